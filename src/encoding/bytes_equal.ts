/** Whether `one` is a `Uint8Array` with the same bytes as `other`. */
export function bytesEqual(one: unknown, other: Uint8Array): boolean {
  if (!(one instanceof Uint8Array) || one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) {
    if (one[index] !== other[index]) return false;
  }
  return true;
}
