import { Buffer } from "node:buffer";

/** Whether `one` is a `Uint8Array` with the same bytes as `other`. */
export function bytesEqual(one: unknown, other: Uint8Array): boolean {
  return one instanceof Uint8Array && Buffer.compare(one, other) === 0;
}
