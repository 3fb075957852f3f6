import { createHmac, hash } from "node:crypto";

/** SHA-256 of bytes or of a text in UTF-8, in hex. Web Crypto is asynchronous and costs thirty times as much. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash("sha256", content, "hex");
}

/** HMAC-SHA-256 (RFC 2104) of a text under a secret, in hex. */
export function hmacSha256Hex(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}
