import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { HEAD_KEY } from "../../src/keyspace.ts";
import { withChecksum } from "../../src/store/checksum.ts";
import { encodeJson } from "../../src/encoding/json.ts";
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
  counts: { available: 12_340, none: 0, pending: 5, sold: 0 },
  changePosition: 99,
  keyPosition: 7,
  schemas: { ApiKeyIssued: 2, PetUpdated: 1 },
  generation: 3,
};

const MARK: RestoreMark = {
  format: "restore",
  storeFormat: 5,
  run: "01HZZZZZZZ0000000000000001",
  position: 9,
  lastHash: HEAD.lastHash,
  restored: 5,
};

Deno.test("decodeHeadRecord() recognises a head and a restore mark, whatever the order of their fields", () => {
  const reversed = <T extends object>(record: T) =>
    Object.fromEntries(Object.entries(record).reverse()) as T;
  for (const head of [EMPTY_HEAD, HEAD, { ...HEAD, removing: 2 }]) {
    for (const value of [encodeHead(head), encodeHead(reversed(head))]) {
      assertEquals(decodeHeadRecord(value), { kind: "head", head });
    }
  }
  assertEquals(decodeHeadRecord(encodeHead(reversed(MARK))), { kind: "restore_mark", mark: MARK });
});

function assertOther(value: unknown, advice: RegExp) {
  const decoded = decodeHeadRecord(value);
  assert(decoded.kind === "other_format");
  assertMatch(decoded.message, advice);
}

Deno.test("decodeHeadRecord() says what to do with a store of another format", () => {
  const { storeFormat: _, ...oldMark } = MARK;
  const others: [record: object, advice: RegExp][] = [
    [{ ...HEAD, format: 1, other: "fields" }, /format 1, .* export it with that version/],
    [{ ...HEAD, format: 3 }, /format 3, .* export it with that version/],
    [{ ...HEAD, format: 4 }, /format 4, .* export it with that version/],
    [{ ...HEAD, format: 6 }, /format 6, .* use that version/],
    [oldMark, /an unfinished restore of another version/],
    [{ ...MARK, storeFormat: 6 }, /an unfinished restore of another version/],
  ];
  for (const [record, advice] of others) {
    // Formats 1 to 3 were texts, and format 4 had no checksum.
    const bytes = encodeJson(record);
    for (const value of [JSON.stringify(record), bytes, withChecksum(HEAD_KEY, bytes)]) {
      assertOther(value, advice);
    }
  }
  const newer = { ...HEAD, schemas: { PetSold: 1 } };
  assertOther(encodeHead(newer), /events of the schema PetSold:1, .* use that version/);
  const member = { ...HEAD, schemas: { PetCreated: 1, ApiKeyIssued: 3 } };
  assertOther(encodeHead(member), /schema ApiKeyIssued:3, of a newer/);
});

Deno.test("headEntryOf() refuses a value that this service did not write", () => {
  const foreign = [undefined, 1, "", "{", "{}", "null", "[]", '"restore"', new Uint8Array(3)];
  const almost = [
    ...[{ ...HEAD, more: 1 }, { ...HEAD, position: -1 }, { ...HEAD, lastHash: "x" }],
    { ...MARK, restored: -1 },
  ];
  const unchecked = [HEAD, MARK].map((it) => encodeJson(it));
  const sealed = [...almost, []].map((it) => withChecksum(HEAD_KEY, encodeJson(it)));
  const flipped = [...encodeHead(HEAD).keys()].flatMap((index) =>
    [1, 128].map((bit) => encodeHead(HEAD).with(index, encodeHead(HEAD)[index] ^ bit))
  );
  for (const value of [...foreign, ...unchecked, ...sealed, ...flipped]) {
    const entry = { key: ["head"], value, versionstamp: "1" };
    assertThrows(() => headEntryOf(entry), ForeignStoreError, "not one of Animal Store");
  }
});
