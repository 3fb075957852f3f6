import { defineApplication, encodeJson } from "eventstore-less";
import { APPLICATION } from "../../../src/application.ts";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { HEAD_KEY } from "../../../src/eventstore_less/keyspace.ts";
import { sha256Hex } from "../../../src/eventstore_less/encoding/sha256.ts";
import { STORE_FORMAT } from "../../../src/eventstore_less/log/store_format.ts";
import { withChecksum } from "../../../src/eventstore_less/store/checksum.ts";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { commit } from "../../support/store_contract.ts";
import {
  decodeHeadRecord,
  EMPTY_HEAD,
  encodeHead,
  encodeRestoreMark,
  ForeignStoreError,
  headEntryOf,
  isAsWritten,
  readStoreFormat,
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

/** What a version of each format stores, with members in their order. */
const { position, lastHash, types, counts, generation } = HEAD;
const HEAD_6 = { format: 6, position, lastHash, types, counts, generation };
const HEAD_7 = {
  format: 7,
  application: "Animal Store",
  position,
  lastHash,
  types,
  counts,
  generation,
};

const MARK: RestoreMark = {
  format: "restore",
  storeFormat: 7,
  run: "01HZZZZZZZ0000000000000001",
  position: 9,
  lastHash: HEAD.lastHash,
  restored: 5,
};

Deno.test("decodeHeadRecord(APPLICATION) recognises a head and a restore mark, whatever the order of their fields", () => {
  const reversed = <T extends object>(record: T) =>
    Object.fromEntries(Object.entries(record).reverse()) as T;
  for (const head of [EMPTY_HEAD, HEAD]) {
    for (const value of [encodeHead(APPLICATION, head), encodeHead(APPLICATION, reversed(head))]) {
      assertEquals(decodeHeadRecord(APPLICATION, value), { kind: "head", head });
    }
  }
  assertEquals(decodeHeadRecord(APPLICATION, encodeRestoreMark(reversed(MARK))), {
    kind: "restore_mark",
    mark: MARK,
  });
});

Deno.test("encodeHead() names the format and the application, and isAsWritten() wants these bytes", () => {
  const value = encodeHead(APPLICATION, HEAD);
  assertEquals(value, sealed(HEAD_7));
  assertEquals(isAsWritten(APPLICATION, value), true);
  const { counts: _, ...others } = HEAD_7;
  for (const other of [{ ...others, counts }, { ...HEAD_7, removing: 1 }]) {
    assertEquals(isAsWritten(APPLICATION, sealed(other)), false);
  }
});

/** SHA-256 of the head and the restore mark above, as versions of each format store them. A line never changes. */
const FORMS: Record<number, string> = {
  6: "763cd7836b1ff0d38cb329c0363ce18490142a5d8b8b43dc993be80ae2974a20",
  7: "a3fb11e55cc0154a074dadf712e3dad308516126801d1e462b75b891bf3bb252",
};

Deno.test("a head or a restore mark of another form has another format, so builds of one format read the same stores", () => {
  const stored = [encodeHead(APPLICATION, HEAD), encodeRestoreMark(MARK)];
  const forms = { 6: [sealed(HEAD_6)], [STORE_FORMAT]: stored };
  for (const [format, records] of Object.entries(forms)) {
    const form = sha256Hex(Uint8Array.of(...records.flatMap((record) => [...record])));
    assertEquals(form, FORMS[Number(format)], `Raise STORE_FORMAT instead of ${format}`);
  }
});

Deno.test("decodeHeadRecord() reads a head of format 6, also with the former members of that format", () => {
  for (const former of [{}, { removing: 2 }, { lacksColumns: true }]) {
    const value = sealed({ ...HEAD_6, ...former });
    assertEquals(decodeHeadRecord(APPLICATION, value), { kind: "head", head: HEAD });
    assertEquals(isAsWritten(APPLICATION, value), true);
  }
  const { format, ...others } = HEAD_6;
  for (const moved of [{ removing: 2, ...HEAD_6 }, { ...others, format }]) {
    assertEquals(isAsWritten(APPLICATION, sealed(moved)), false);
  }
});

Deno.test("decodeHeadRecord() reads the counts of the pets, which earlier versions of format 6 did not name", () => {
  const cases: [written: object, read: Head["counts"]][] = [[counts.pets!, counts], [{}, {}]];
  const { name, collections: [pets, ...others] } = APPLICATION;
  const reordered = defineApplication({ name, collections: [...others, pets] });
  for (const application of [APPLICATION, reordered]) {
    for (const [written, read] of cases) {
      const value = sealed({ ...HEAD_6, counts: written });
      const head = { ...HEAD, counts: read };
      assertEquals(decodeHeadRecord(application, value), { kind: "head", head });
      assertEquals(isAsWritten(application, value), true);
    }
  }
});

Deno.test("readStoreFormat() tells a store that the next commit upgrades", async () => {
  const store = await SqliteStore.open(":memory:");
  const cases: [record: Uint8Array | undefined, format: number][] = [
    [undefined, 7],
    [sealed(HEAD_6), 6],
    [encodeHead(APPLICATION, HEAD), 7],
  ];
  for (const [value, format] of cases) {
    if (value !== undefined) await commit(store, [{ type: "set", key: HEAD_KEY, value }]);
    assertEquals(await readStoreFormat(store), format);
  }
  store.close();
});

function sealed(record: unknown): Uint8Array {
  return withChecksum(HEAD_KEY, encodeJson(record));
}

function assertRefused(value: unknown, message: string) {
  assertEquals(decodeHeadRecord(APPLICATION, value), { kind: "refused", message });
}

Deno.test("decodeHeadRecord() says what to do with a store of another application or format", () => {
  const olderAdvice = "of an older version; export it with that version (exportLog()), " +
    "then restore the export into a new store with this one";
  const restoreAdvice = "finish it with that version, or restore the export into a new store";
  const { storeFormat: _, ...oldMark } = MARK;
  const others: [record: object, message: string][] = [
    [{ ...HEAD_6, format: 1, other: "fields" }, `it has format 1, ${olderAdvice}`],
    [{ ...HEAD_6, format: 5 }, `it has format 5, ${olderAdvice}`],
    [
      { ...HEAD_6, format: 8 },
      "it has the newer format 8, and this version knows stores up to format 7; use a version for format 8",
    ],
    [
      { ...HEAD_6, format: 8, application: "Invoices" },
      "it is a store of Invoices, not of Animal Store; use that program, or name another store",
    ],
    [oldMark, `it holds an unfinished restore of a version with an older format; ${restoreAdvice}`],
    ...[6, 8].map((storeFormat): [object, string] => [
      { ...MARK, storeFormat },
      `it holds an unfinished restore of a version with format ${storeFormat}; ${restoreAdvice}`,
    ]),
  ];
  for (const [record, message] of others) {
    // Earlier formats stored texts, and then bytes without a checksum.
    const bytes = encodeJson(record);
    for (const value of [JSON.stringify(record), bytes, withChecksum(HEAD_KEY, bytes)]) {
      assertRefused(value, message);
    }
  }
});

Deno.test("decodeHeadRecord() names the latest release whose events it does not know, in format 6 and 7", () => {
  const created = (version: string) => ({ PetCreated: { version, count: 1, last: 1 } });
  const sold = { PetSold: { version: "99.2", count: 1, last: 2 } };
  const cases: [types: object, release: string, schema: string][] = [
    [sold, "99.2", "pet-sold"],
    [created("99.10"), "99.10", "pet-created"],
    [{ ...created("99.10"), ...sold }, "99.10", "pet-created"],
    [{ ...sold, ...created("98.9") }, "99.2", "pet-sold"],
  ];
  for (const [types, release, schema] of cases) {
    for (const format of [{ format: 6 }, { format: 7, application: "Animal Store" }]) {
      // Whatever else that release has added to the head.
      const newer = { ...HEAD_6, ...format, types, counts: { visits: { reserved: 1 } }, more: 1 };
      assertRefused(
        sealed(newer),
        `its log has events of the newer release ${release}, such as ` +
          `urn:animal-store:${schema}:${release}; use release ${release} or a later one`,
      );
    }
  }
});

Deno.test("headEntryOf(APPLICATION) refuses a value that this service did not write", () => {
  const foreign = [undefined, 1, "", "{", "{}", "null", "[]", '"restore"', new Uint8Array(3)];
  const almost = [
    ...[{ more: 1 }, { position: -1 }, { lastHash: "x" }, { counts: { pets: { sold: "1" } } }]
      .flatMap((change) => [{ ...HEAD_7, ...change }, { ...HEAD_6, ...change }]),
    // Only format 6 had former members, and counts without a name.
    ...[{ removing: 1 }, { counts: { sold: 1 } }].map((former) => ({ ...HEAD_7, ...former })),
    { ...HEAD_6, counts: { pets: 1, keys: { live: 1 } } },
    ...[{ ...HEAD_6, format: 7 }, { ...HEAD_6, format: 6.5 }, { ...HEAD_7, application: 1 }],
    { ...MARK, restored: -1 },
  ];
  const unchecked = [HEAD_7, HEAD_6, MARK].map((it) => encodeJson(it));
  const wrong = [...almost, []].map(sealed);
  const sound = encodeHead(APPLICATION, HEAD);
  const flipped = [...sound.keys()].flatMap((index) =>
    [1, 128].map((bit) => sound.with(index, sound[index] ^ bit))
  );
  for (const value of [...foreign, ...unchecked, ...wrong, ...flipped]) {
    const entry = { key: ["head"], value, versionstamp: "1" };
    assertThrows(
      () => headEntryOf(APPLICATION, entry),
      ForeignStoreError,
      "not one of Animal Store",
    );
  }
});
