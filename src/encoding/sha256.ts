import { hash } from "node:crypto";

/**
 * SHA-256 of bytes or of a text in UTF-8, in hex. Web Crypto is asynchronous and costs thirty times as much.
 */
export function sha256Hex(content: string | Uint8Array): string {
  return hash("sha256", content, "hex");
}
