/** Bytes as hexadecimal text. Node 24 lacks the methods of `Uint8Array`, which are faster. */

import { Buffer } from "node:buffer";

const HAS_METHODS = "fromHex" in Uint8Array;

export const hexOf: (bytes: Uint8Array) => string = HAS_METHODS
  ? (bytes) => bytes.toHex()
  : ({ buffer, byteOffset, length }) => Buffer.from(buffer, byteOffset, length).toString("hex");

/** The bytes of a text that {@linkcode hexOf} or a database made. Another text gives other bytes, or an error. */
export const bytesOfHex: (text: string) => Uint8Array<ArrayBuffer> = HAS_METHODS
  ? (text) => Uint8Array.fromHex(text)
  : (text) => new Uint8Array(Buffer.from(text, "hex"));
