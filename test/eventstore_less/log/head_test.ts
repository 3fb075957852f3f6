import { defineApplication, encodeJson } from "eventstore-less";
import { APPLICATION } from "../../../src/application.ts";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { HEAD_KEY } from "../../../src/eventstore_less/keyspace.ts";
import { withChecksum } from "../../../src/eventstore_less/store/checksum.ts";
import {
  decodeHeadRecord,
  EMPTY_HEAD,
  encodeHead,
  ForeignStoreError,
  headEntryOf,
  isAsWritten,
  type RestoreMark,
} from "../../../src/eventstore_less/log/head.ts";

const HEAD: Head = {
  ...EMPTY_HEAD,
  position: 12_345_678_901,
  lastHash: "0123456789abcdef".repeat(4),
  types: {
    ApiKeyIssued: { version: "2", count: 3, last: 7 },
    PetCreated: { version: "1", count: 12_345, last: 12_345_678_901 },
    PetUpdated: { version: "1", count: 9, last: 99 },
  },
  counts: { pets: { available: 12_340, pending: 5 } },
  generation: 3,
};

const MARK: RestoreMark = {
  format: "restore",
  storeFormat: 6,
  run: "01HZZZZZZZ0000000000000001",
  position: 9,
  lastHash: HEAD.lastHash,
  restored: 5,
};

Deno.test("decodeHeadRecord(APPLICATION) recognises a head and a restore mark, whatever the order of their fields", () => {
  const reversed = <T extends object>(record: T) =>
    Object.fromEntries(Object.entries(record).reverse()) as T;
  for (const head of [EMPTY_HEAD, HEAD]) {
    for (const value of [encodeHead(head), encodeHead(reversed(head))]) {
      assertEquals(decodeHeadRecord(APPLICATION, value), { kind: "head", head });
    }
  }
  assertEquals(decodeHeadRecord(APPLICATION, encodeHead(reversed(MARK))), {
    kind: "restore_mark",
    mark: MARK,
  });
});

Deno.test("decodeHeadRecord(APPLICATION) ignores the members of a head that earlier versions of the format wrote", () => {
  for (const former of [{ removing: 2 }, { lacksColumns: true }]) {
    const value = encodeHead({ ...HEAD, ...former });
    assertEquals(decodeHeadRecord(APPLICATION, value), { kind: "head", head: HEAD });
    assertEquals([isAsWritten(APPLICATION, value), isAsWritten(APPLICATION, encodeHead(HEAD))], [
      true,
      true,
    ]);
    assertEquals(isAsWritten(APPLICATION, encodeHead({ ...former, ...HEAD })), false);
  }
});

Deno.test("decodeHeadRecord(APPLICATION) reads the counts of the pets, which earlier versions of the format did not name", () => {
  const { counts, ...others } = HEAD;
  const cases: [written: object, read: Head["counts"]][] = [[counts.pets!, counts], [{}, {}]];
  for (const [written, read] of cases) {
    const value = withChecksum(HEAD_KEY, encodeJson({ ...EMPTY_HEAD, ...others, counts: written }));
    assertEquals(decodeHeadRecord(APPLICATION, value), {
      kind: "head",
      head: { ...HEAD, counts: read },
    });
    assertEquals(isAsWritten(APPLICATION, value), true);
  }
});

Deno.test("decodeHeadRecord() gives counts without a name to the pets, whatever the first collection is", () => {
  const { name, collections: [pets, ...others] } = APPLICATION;
  const reordered = defineApplication({ name, collections: [...others, pets] });
  const value = withChecksum(HEAD_KEY, encodeJson({ ...HEAD, counts: HEAD.counts.pets }));
  assertEquals(decodeHeadRecord(reordered, value), { kind: "head", head: HEAD });
});

function assertOther(value: unknown, advice: RegExp) {
  const decoded = decodeHeadRecord(APPLICATION, value);
  assert(decoded.kind === "other_format");
  assertMatch(decoded.message, advice);
}

Deno.test("decodeHeadRecord(APPLICATION) says what to do with a store of another format", () => {
  const { storeFormat: _, ...oldMark } = MARK;
  const others: [record: object, advice: RegExp][] = [
    [{ ...HEAD, format: 1, other: "fields" }, /format 1, .* export it with that version/],
    [{ ...HEAD, format: 5 }, /format 5, .* export it with that version/],
    [{ ...HEAD, format: 7 }, /format 7, of the newer version 7; use that version or a later one/],
    [oldMark, /an unfinished restore of another version/],
    [{ ...MARK, storeFormat: 7 }, /an unfinished restore of another version/],
  ];
  for (const [record, advice] of others) {
    // Earlier formats stored texts, and then bytes without a checksum.
    const bytes = encodeJson(record);
    for (const value of [JSON.stringify(record), bytes, withChecksum(HEAD_KEY, bytes)]) {
      assertOther(value, advice);
    }
  }
  const unknown = [{ PetSold: { version: "99.2" } }, { PetCreated: { version: "99.10" } }];
  const messages = [
    /schema urn:animal-store:pet-sold:99\.2, of the newer version 99\.2; use that/,
    /schema urn:animal-store:pet-created:99\.10, of the newer version 99\.10; use that/,
  ];
  for (const [index, types] of unknown.entries()) {
    // Whatever else that version has added to the head.
    const newer = { ...HEAD, types, counts: { visits: { reserved: 1 } }, more: 1 };
    assertOther(withChecksum(HEAD_KEY, encodeJson(newer)), messages[index]);
  }
});

Deno.test("headEntryOf(APPLICATION) refuses a value that this service did not write", () => {
  const foreign = [undefined, 1, "", "{", "{}", "null", "[]", '"restore"', new Uint8Array(3)];
  const almost = [
    ...[{ ...HEAD, more: 1 }, { ...HEAD, position: -1 }, { ...HEAD, lastHash: "x" }],
    { ...HEAD, counts: { pets: { sold: "1" } } },
    { ...HEAD, counts: { pets: 1, keys: { live: 1 } } },
    { ...MARK, restored: -1 },
  ];
  const unchecked = [HEAD, MARK].map((it) => encodeJson(it));
  const sealed = [...almost, []].map((it) => withChecksum(HEAD_KEY, encodeJson(it)));
  const flipped = [...encodeHead(HEAD).keys()].flatMap((index) =>
    [1, 128].map((bit) => encodeHead(HEAD).with(index, encodeHead(HEAD)[index] ^ bit))
  );
  for (const value of [...foreign, ...unchecked, ...sealed, ...flipped]) {
    const entry = { key: ["head"], value, versionstamp: "1" };
    assertThrows(
      () => headEntryOf(APPLICATION, entry),
      ForeignStoreError,
      "not one of Animal Store",
    );
  }
});
