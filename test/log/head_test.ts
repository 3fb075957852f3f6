import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  decodeHeadRecord,
  EMPTY_HEAD,
  encodeHead,
  ForeignStoreError,
  type Head,
  headEntryOf,
  type RestoreMark,
} from "../../src/log/head.ts";

const HEAD: Head = {
  ...EMPTY_HEAD,
  position: 12_345_678_901,
  lastPetId: 12_345,
  lastHash: "0123456789abcdef".repeat(4),
  keyPosition: 7,
  generation: 3,
};

Deno.test("encodeHead() writes JSON that decodes to the same head", () => {
  const heads: Head[] = [
    EMPTY_HEAD,
    HEAD,
    { ...HEAD, building: { generation: 4, until: 99 } },
    { ...HEAD, removing: 2 },
    { ...HEAD, building: { generation: 4, until: 0 }, removing: 5 },
  ];
  for (const head of heads) {
    const value = encodeHead(head);
    assertEquals(JSON.parse(value), JSON.parse(JSON.stringify(head)));
    const versionstamp = "00000000000000010000";
    assertEquals(headEntryOf({ key: ["head"], value, versionstamp }), { head, versionstamp });
  }
});

const MARK: RestoreMark = {
  format: "restore",
  storeFormat: 3,
  run: "01HZZZZZZZ0000000000000001",
  position: 9,
  lastHash: HEAD.lastHash,
  restored: 5,
};

Deno.test("decodeHeadRecord() recognises a head and a restore mark, whatever the order of their fields", () => {
  const reversed = (record: object) =>
    JSON.stringify(Object.fromEntries(Object.entries(record).reverse()), null, 1);
  assertEquals(decodeHeadRecord(reversed(HEAD)), { kind: "head", head: HEAD });
  assertEquals(decodeHeadRecord(reversed(MARK)), { kind: "restore_mark", mark: MARK });
});

Deno.test("decodeHeadRecord() says what to do with a store of another format", () => {
  const { storeFormat: _, ...oldMark } = MARK;
  const others: [record: object, advice: RegExp][] = [
    [{ ...HEAD, format: 1, other: "fields" }, /format 1, .* export it with that version/],
    [{ ...HEAD, format: 2 }, /format 2, .* export it with that version/],
    [{ ...HEAD, format: 4 }, /format 4, .* use that version/],
    [oldMark, /an unfinished restore of another version/],
    [{ ...MARK, storeFormat: 4 }, /an unfinished restore of another version/],
  ];
  for (const [value, advice] of others) {
    const record = decodeHeadRecord(JSON.stringify(value));
    assert(record.kind === "other_format");
    assertMatch(record.message, advice);
  }
});

Deno.test("headEntryOf() refuses a value that this service did not write", () => {
  const foreign = [undefined, 1, "", "{", "{}", "null", "[]", '"restore"', new Uint8Array(3)];
  const almost = [
    ...[{ ...HEAD, more: 1 }, { ...HEAD, position: -1 }, { ...HEAD, lastHash: "x" }],
    { ...MARK, restored: -1 },
  ];
  for (const value of [...foreign, ...almost.map((it) => JSON.stringify(it))]) {
    const entry = { key: ["head"], value, versionstamp: "1" };
    assertThrows(() => headEntryOf(entry), ForeignStoreError, "is not one of Animal Store");
  }
});
