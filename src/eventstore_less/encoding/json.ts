import { encodeUtf8Pooled } from "./pooled_bytes.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Encodes the content of a record. It shares a buffer, so do not keep it for long. */
export function encodeJson(value: unknown): Uint8Array {
  return encodeUtf8Pooled(JSON.stringify(value));
}

/** Decodes a stored value that {@linkcode encodeJson} has made. Throws `TypeError` or `SyntaxError`. */
// deno-lint-ignore no-explicit-any -- as JSON.parse
export function decodeJson(value: unknown): any {
  return JSON.parse(decoder.decode(value as Uint8Array));
}
