/** The checksum of a record: finds flipped bits, a text that was cut off, and a record under another key. */

import { crc32 } from "node:zlib";
import { pooledBytes } from "../encoding/pooled_bytes.ts";
import type { Key, StoreEntry } from "./store.ts";

export const CHECKSUM_BYTES = 4;

/**
 * The value to store under a key: the CRC-32 of the key and the content, and the content. It shares a buffer, so do not
 * keep it for long.
 */
export function withChecksum(key: Key, content: Uint8Array): Uint8Array {
  const value = pooledBytes(CHECKSUM_BYTES + content.length);
  value.set(content, CHECKSUM_BYTES);
  const checksum = checksumOf(key, content);
  for (let byte = 0; byte < CHECKSUM_BYTES; byte++) value[byte] = checksum >>> 24 - 8 * byte;
  return value;
}

/** The content of a stored value, which shares its memory; `undefined` if the checksum is wrong. */
export function checkedContent(
  { key, value }: Pick<StoreEntry, "key" | "value">,
): Uint8Array | undefined {
  if (!(value instanceof Uint8Array) || value.length < CHECKSUM_BYTES) return undefined;
  const content = value.subarray(CHECKSUM_BYTES);
  const checksum = value[0] << 24 | value[1] << 16 | value[2] << 8 | value[3];
  return checksum === (checksumOf(key, content) | 0) ? content : undefined;
}

function checksumOf(key: Key, content: Uint8Array): number {
  return crc32(content, crc32(key.join()));
}
