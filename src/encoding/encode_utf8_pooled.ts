/** Size of one allocation, in bytes. */
const POOL_BYTES = 64 * 1024;

/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

const encoder = new TextEncoder();
let pool = new Uint8Array(POOL_BYTES);
let used = 0;

/**
 * Encodes a text in UTF-8. Short texts share one buffer, because a separate buffer costs more than the
 * encoding. Copy the result to keep it for long; otherwise it keeps the whole buffer in memory.
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
