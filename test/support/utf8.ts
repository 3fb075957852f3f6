const encoder = new TextEncoder();

/** The bytes of a text in UTF-8. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}
