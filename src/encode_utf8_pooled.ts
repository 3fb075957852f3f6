/** How much is asked of the system at once, in bytes. */
const POOL_BYTES = 64 * 1024;

/** The most bytes that a UTF-16 code unit takes in UTF-8. */
const BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();
let pool = new Uint8Array(POOL_BYTES);
let used = 0;

/**
 * A text in UTF-8. Short ones lie in memory that others share, for a buffer of its own costs more than
 * the encoding does. So who keeps one of them for long should keep a copy.
 */
export function encodeUtf8Pooled(text: string): Uint8Array {
  const most = text.length * BYTES_PER_UNIT;
  if (most > POOL_BYTES / 8) return encoder.encode(text);
  if (used + most > POOL_BYTES) {
    pool = new Uint8Array(POOL_BYTES);
    used = 0;
  }
  const { written } = encoder.encodeInto(text, pool.subarray(used));
  const bytes = pool.subarray(used, used + written);
  used += written;
  return bytes;
}
