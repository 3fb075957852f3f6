/** Arrays as parameters of statements. */

/** The object identifier of PostgreSQL's type `bytea`. */
const BYTEA_OID = 17;

/** Dimensions, flags, type, length and lower bound; then the length of each element before its bytes. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

/**
 * Encodes a `bytea[]` in PostgreSQL's binary format, which pg sends as it is. As text, it would have twice the
 * size (https://github.com/postgres/postgres, src/backend/utils/adt/arrayfuncs.c, array_recv).
 */
export function encodeArray(elements: Uint8Array[]): Uint8Array {
  const size = elements.reduce((sum, { length }) => sum + LENGTH_BYTES + length, HEADER_BYTES);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  for (const [index, field] of [1, 0, BYTEA_OID, elements.length, 1].entries()) {
    view.setInt32(4 * index, field);
  }
  let offset = HEADER_BYTES;
  for (const element of elements) {
    view.setInt32(offset, element.length);
    bytes.set(element, offset + LENGTH_BYTES);
    offset += LENGTH_BYTES + element.length;
  }
  return bytes;
}

/** Encodes an array of numbers, booleans or `null`. */
export function textArray(elements: readonly (string | number | boolean | null)[]): string {
  return `{${elements.map(String).join(",")}}`;
}
