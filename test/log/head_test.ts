import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  decodeHeadRecord,
  EMPTY_HEAD,
  encodeHead,
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

Deno.test("decodeHeadRecord() recognises a damaged restore mark, so that no service works on it", () => {
  const damaged = JSON.stringify({ ...MARK, restored: -1 });
  assertEquals(decodeHeadRecord(damaged), { kind: "restore_mark", mark: undefined });
});

Deno.test("decodeHeadRecord() refuses a restore mark of another format", () => {
  const { storeFormat: _, ...ofFormat1 } = MARK;
  for (const mark of [ofFormat1, { ...MARK, storeFormat: 2 }, { ...MARK, storeFormat: 4 }]) {
    const record = decodeHeadRecord(JSON.stringify(mark));
    assert(record.kind === "other_format");
    assertStringIncludes(record.message, "an unfinished restore of another version");
  }
});

Deno.test("decodeHeadRecord() says what to do with a store of another format", () => {
  for (
    const [format, advice] of [[1, "export it with that version"], [
      2,
      "export it with that version",
    ], [4, "use that version"]]
  ) {
    const record = decodeHeadRecord(JSON.stringify({ ...HEAD, format, other: "fields" }));
    assert(record.kind === "other_format");
    assertStringIncludes(record.message, `format ${format}`);
    assertStringIncludes(record.message, String(advice));
  }
});

Deno.test("decodeHeadRecord() recognises a value that this service did not write", () => {
  const foreign = [undefined, 1, "{", "null", "[]", '"restore"', new Uint8Array(3)];
  for (const value of [...foreign, JSON.stringify({ ...HEAD, more: 1 })]) {
    assertEquals(decodeHeadRecord(value).kind, "foreign", String(value));
  }
});
