/**
 * Short byte arrays that share a buffer: to allocate one for each takes longer than to fill it. Do not keep an array for
 * long, because it keeps the whole buffer in memory. Never transfer its buffer, because all others would lose their
 * bytes.
 */

/** Size of the buffer, in bytes. */
const BUFFER_BYTES = 64 * 1024;

/** Longer arrays get a buffer of their own. */
const SHARED_BYTES = BUFFER_BYTES / 8;

/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();
let buffer = new Uint8Array(BUFFER_BYTES);
let used = 0;

/** Returns an array of that length, for the caller to fill. */
export function pooledBytes(length: number): Uint8Array {
  if (length > SHARED_BYTES) return new Uint8Array(length);
  reserve(length);
  const bytes = buffer.subarray(used, used + length);
  used += length;
  return bytes;
}

/** Encodes a text in UTF-8. */
export function encodeUtf8Pooled(text: string): Uint8Array {
  const maxBytes = BYTES_PER_UNIT * text.length;
  if (maxBytes > SHARED_BYTES) return encoder.encode(text);
  reserve(maxBytes);
  const { written } = encoder.encodeInto(text, buffer.subarray(used));
  return pooledBytes(written);
}

/** Makes sure that the buffer has room for an array of that length. */
function reserve(length: number): void {
  if (used + length <= BUFFER_BYTES) return;
  buffer = new Uint8Array(BUFFER_BYTES);
  used = 0;
}
