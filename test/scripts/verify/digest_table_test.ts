import { assert, assertEquals } from "@std/assert";
import { DigestTable, halfSipHash } from "../../../scripts/verify/digest_table.ts";

const encode = (text: string) => new TextEncoder().encode(text);

Deno.test("halfSipHash() gives the first 48 bits of the reference, whatever the length", () => {
  const key = new Uint32Array(Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7).buffer);
  // Of vectors_hsip64 in the reference implementation, for the bytes 0, 1, 2 …
  const digests = [0, 1].map((length) => halfSipHash(Uint8Array.from(Array(length).keys()), key));
  assertEquals(digests, [0xb8b9591f8d21, 0x38f8122455be]);
  const others = Array.from(
    { length: 80 },
    (_, length) => halfSipHash(new Uint8Array(length), key),
  );
  assertEquals(new Set(others).size, 80);
});

Deno.test("DigestTable recognises only the content of a number", () => {
  const table = new DigestTable();
  table.set(7, encode("Rex"), 9);
  assert(table.has(7, encode("Rex")));
  for (const changed of ["", "Re", "rex", "Rex\0"]) assert(!table.has(7, encode(changed)));
  assertEquals([table.has(8, encode("Rex")), table.valueAt(8), table.valueAt(7)], [false, 0, 9]);
});
