/** The messages of a commit in KV Connect (https://github.com/denoland/denokv, proto/schema/datapath.proto), in Protocol Buffers. */

import { Buffer } from "node:buffer";
import { encodeKey } from "../key_encoding.ts";
import { type Commit, VALUE_BYTES_LIMIT } from "../store.ts";
import { StoreRefusedError, UnclearOutcomeError } from "../store_errors.ts";

/** Wire types. */
const VARINT = 0;
const BYTES = 2;

/** Fields with a fixed content: that a mutation sets or deletes, and that a value consists of bytes. */
const SET = Uint8Array.of(3 << 3 | VARINT, 1);
const DELETE = Uint8Array.of(3 << 3 | VARINT, 2);
const IS_BYTES = Uint8Array.of(2 << 3 | VARINT, 3);

/** The starts of an AtomicWriteOutput: field 1 is the outcome, field 2 the versionstamp. */
const SUCCESS = "0801120a";
const CHECK_FAILURE = "0802";

/** Throws `StoreRefusedError` if a key is empty, or a value too large. */
export function encodeAtomicWrite(
  { checks, mutations }: Commit,
  now: number,
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for (const { key, versionstamp } of checks) {
    const version = versionstamp === null ? [] : field(2, [Uint8Array.fromHex(versionstamp)]);
    parts.push(...field(1, [...field(1, [encodeKey(key)]), ...version]));
  }
  for (const mutation of mutations) {
    if (mutation.key.length === 0) throw new StoreRefusedError("A key cannot be empty");
    const message = field(1, [encodeKey(mutation.key)]);
    if (mutation.type === "delete") message.push(DELETE);
    else {
      const { value, expireIn } = mutation;
      if (value.length > VALUE_BYTES_LIMIT) throw new StoreRefusedError("A value is too large");
      message.push(...field(2, [...field(1, [value]), IS_BYTES]), SET);
      if (expireIn !== undefined) message.push(head(4, VARINT, Math.ceil(now + expireIn)));
    }
    parts.push(...field(2, message));
  }
  return Buffer.concat(parts);
}

/** The new versionstamp, or `null` if a check failed. Throws `UnclearOutcomeError` for other outcomes. */
export function decodeAtomicWriteOutput(bytes: Uint8Array): string | null {
  const hex = bytes.toHex();
  if (hex.startsWith(SUCCESS) && hex.length >= 28) return hex.slice(8, 28);
  if (hex.startsWith(CHECK_FAILURE)) return null;
  throw new UnclearOutcomeError(`it answers with the outcome ${hex.slice(0, 28)}`);
}

/** A field that consists of several parts. */
function field(number: number, parts: Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [head(number, BYTES, length), ...parts];
}

function head(number: number, type: number, value: number): Uint8Array {
  const bytes = [number << 3 | type];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return Uint8Array.of(...bytes, value);
}
