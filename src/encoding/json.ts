const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** Decodes a stored value that {@linkcode encodeJson} has made. Throws `TypeError` or `SyntaxError`. */
// deno-lint-ignore no-explicit-any -- as JSON.parse
export function decodeJson(value: unknown): any {
  return JSON.parse(decoder.decode(value as Uint8Array));
}
