/** Size of the buffer that texts share, in bytes. */
const BUFFER_BYTES = 64 * 1024;

/** Longer texts get a buffer of their own. */
const SHARED_TEXT_BYTES = BUFFER_BYTES / 8;

/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();
let buffer = new Uint8Array(BUFFER_BYTES);
let used = 0;

/**
 * Encodes a text in UTF-8. Short texts share a buffer, because a new buffer for each takes longer than the encoding. Do
 * not keep the result for long, because it keeps the whole buffer in memory.
 */
export function encodeUtf8Pooled(text: string): Uint8Array {
  const maxBytes = BYTES_PER_UNIT * text.length;
  if (maxBytes > SHARED_TEXT_BYTES) return encoder.encode(text);
  if (used + maxBytes > BUFFER_BYTES) {
    buffer = new Uint8Array(BUFFER_BYTES);
    used = 0;
  }
  const { written } = encoder.encodeInto(text, buffer.subarray(used));
  const bytes = buffer.subarray(used, used + written);
  used += written;
  return bytes;
}
