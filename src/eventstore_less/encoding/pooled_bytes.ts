/**
 * Short byte arrays that share a buffer, because to allocate a buffer for each takes longer than to fill it. Arrays are
 * not given back: a full buffer is replaced, and freed with its last array. So do not keep an array for long. Never
 * transfer its buffer: all other arrays in it, and those made later, would be empty.
 */

/** Size of the buffer, in bytes. */
const BUFFER_BYTES = 64 * 1024;

/** Maximum length of an array in the shared buffer. A longer one gets a buffer of its own. */
const MAX_SHARED_BYTES = BUFFER_BYTES / 8;

/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();
let buffer = new Uint8Array(BUFFER_BYTES);
let used = 0;

/** Returns an array of that length, for the caller to fill. */
export function pooledBytes(length: number): Uint8Array {
  if (length > MAX_SHARED_BYTES) return new Uint8Array(length);
  reserve(length);
  const bytes = buffer.subarray(used, used + length);
  used += length;
  return bytes;
}

/** Encodes a text in UTF-8. */
export function encodeUtf8Pooled(text: string): Uint8Array {
  // The exact length is known only after the encoding.
  const maxBytes = BYTES_PER_UNIT * text.length;
  if (maxBytes > MAX_SHARED_BYTES) return encoder.encode(text);
  reserve(maxBytes);
  const { written } = encoder.encodeInto(text, buffer.subarray(used));
  // The room is reserved, so these are the bytes that were just written.
  return pooledBytes(written);
}

/** Makes sure that the buffer has room for an array of that length. */
function reserve(length: number): void {
  if (used + length <= BUFFER_BYTES) return;
  buffer = new Uint8Array(BUFFER_BYTES);
  used = 0;
}
