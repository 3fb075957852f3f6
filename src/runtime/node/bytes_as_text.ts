/** Methods of `Uint8Array` that Node 24 lacks, and that Node 26 has. */

import { Buffer } from "node:buffer";

const bytes = Uint8Array.prototype;
Uint8Array.fromHex ??= (text: string) => new Uint8Array(Buffer.from(text, "hex"));
Uint8Array.fromBase64 ??= (text: string) => new Uint8Array(Buffer.from(text, "base64"));
bytes.toHex ??= function (this: Uint8Array) {
  return Buffer.from(this.buffer, this.byteOffset, this.length).toString("hex");
};
bytes.toBase64 ??= function (this: Uint8Array) {
  return Buffer.from(this.buffer, this.byteOffset, this.length).toString("base64");
};
