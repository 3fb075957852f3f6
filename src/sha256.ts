import { hash } from "node:crypto";

/** SHA-256 of a line's bytes or of a text in UTF-8, in hex. Not Web Crypto: that answers later, at thirty times the cost. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash("sha256", content, "hex");
}
