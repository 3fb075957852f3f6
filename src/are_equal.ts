/** Whether both hold the same bytes. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) {
    if (one[index] !== other[index]) return false;
  }
  return true;
}
