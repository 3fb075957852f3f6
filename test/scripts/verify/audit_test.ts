import { audit, auditLines, replay, verifyExport } from "../../support/tools.ts";
import { RefusedError } from "../../../src/eventstore_less/tools/refused_error.ts";
import { encodeJson } from "eventstore-less";
import { INT64_MIN } from "eventstore-less/int64";
import { sha256Hex } from "eventstore-less/parts";
import { systemRuntime } from "eventstore-less/startup";
import { APPLICATION } from "../../../src/application.ts";
import { categoryKey, removedCategoryKey } from "../../../src/categories/category_records.ts";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import { OPERATOR } from "../../../src/eventstore_less/log/actor.ts";
import { petKey, removedPetKey } from "../../../src/animals/pet_keys.ts";
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { adviceOf } from "../../../scripts/audit/advice.ts";
import type { LogAuditOptions } from "../../../src/eventstore_less/tools/verify/log_audit.ts";
import { splitLines } from "../../../src/eventstore_less/log/lines.ts";
import { acceptLog } from "../../../src/eventstore_less/log/accept_store.ts";
import { encodeHead, readHead } from "../../../src/eventstore_less/log/head.ts";
import { withSampleFile } from "../../support/sample_file.ts";
import { formatKey } from "../../../src/eventstore_less/store/key_encoding.ts";
import {
  consumersKey,
  HEAD_KEY,
  idempotencyRecordKey,
  lastRunKey,
  LOG_PREFIX,
  logKey,
  projectionKey,
  REPLAY_KEY,
  turnRequestKey,
  unloggedKey,
} from "../../../src/eventstore_less/keyspace.ts";
import { withChecksum } from "../../../src/eventstore_less/store/checksum.ts";
import { scan } from "../../../src/eventstore_less/store/scan.ts";
import { SqliteReader } from "../../../src/eventstore_less/store/sqlite/sqlite_reader.ts";
import { StoreRefusedError } from "../../../src/eventstore_less/store/store_errors.ts";
import type { Key, Mutation, Store } from "../../../src/eventstore_less/store/store.ts";
import { linesOf, linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { openSampleStore, writeLog } from "../../support/sample_store.ts";
import { openTestService } from "../../support/test_service.ts";
import { faultyStore } from "../../support/faulty_store.ts";
import { putRecord } from "../../support/set_record.ts";
import { commit, set } from "../../support/store_contract.ts";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { createService } from "../../../src/service.ts";
import { setExpiry } from "../../support/set_expiry.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";

const decoder = new TextDecoder();

Deno.test("audit() finds every foreign record", async () => {
  using sample = await openSampleStore(30);
  for (const key of FOREIGN_KEYS) {
    await commit(sample.store, [set(key, "foreign")]);
    assertEquals(Object.values((await audit(sample)).counts), [1], formatKey(key));
    await commit(sample.store, [{ type: "delete", key }]);
  }
});

Deno.test("audit() finds no fault in a turn request, an unlogged record and those of a last run and of consumers, and needs nothing of them", async () => {
  using sample = await openSampleStore(30);
  const keys = [
    turnRequestKey("01HZZZZZZZ0000000000000009"),
    lastRunKey("backup"),
    consumersKey("mailer"),
    unloggedKey("calls", "7"),
  ];
  await commit(sample.store, keys.map((key) => set(key, "anything")));
  assertEquals((await audit(sample)).faults, []);
});

Deno.test("audit() and auditLines() prove with a checkpoint that a log extends it, or was cut off, or rewritten", async () => {
  using sample = await openSampleStore(35);
  const lines = sampleLog(40);
  const at = (position: number) => ({ position, hash: sha256Hex(lines[position - 1]) });
  assertEquals((await audit(sample, { checkpoint: at(30) })).faults, []);
  const cut = await audit(sample, { checkpoint: at(40) });
  assertEquals([cut.counts, cut.firstBadPosition], [{ checkpoint: 1 }, 36]);
  assertMatch(cut.faults[0].message, /newest events were cut off/);
  // All hashes of the other history fit.
  const forged = rewritten(lines, 13, changed(lines[13], "Zoë", "Zoé"));
  assertEquals((await auditFile(forged)).sound, true);
  const { counts, faults } = await auditFile(forged, { checkpoint: at(20) });
  assertEquals(counts, { checkpoint: 1 });
  assertMatch(faults[0].message, /^Line 20 is not the one that the checkpoint was taken at/);
});

Deno.test("auditLines() and verifyExport() say that an export is one of another application", async () => {
  const lines = sampleLog(3).map((line) => line.replaceAll("urn:animal-store", "urn:invoices"));
  const source = "its source is urn:invoices, not urn:animal-store";
  const { faults } = await auditFile(lines);
  const message = `The file is an export of another application: ${source}`;
  assertEquals(faults, [{ kind: "no_export", message }]);
  const verify = () => verifyExport(() => ReadableStream.from([linesToBytes(lines)]));
  const refused = `Line 1: The line is of another application: ${source}`;
  await assertRejects(verify, RefusedError, refused);
  // A single line with another source was altered.
  const [first, second, third] = sampleLog(3);
  const altered = [first, second.replace("urn:animal-store", "urn:animal-stora"), third];
  const { counts } = await auditFile(altered);
  assertEquals(counts.no_export, undefined);
  assert(counts.line! > 0);
});

Deno.test("audit() and auditLines() tell lines of a newer version from altered ones", async () => {
  const original = sampleLog(30);
  const newer = changed(original[14], "pet-removed:1", "pet-removed:6.2");
  const lines = rewritten(original, 14, newer);
  const message =
    "Line 15: A newer release wrote the line: its schema urn:animal-store:pet-removed:6.2 needs release 6.2";
  const fault = { kind: "newer_line" as const, position: 15, message };
  const report = await auditFile(lines);
  assertEquals([report.faults, report.position], [[fault], 30]);
  assertMatch(adviceOf(report, { isExport: true }).newer_line!, /^Upgrade the program/);
  using sample = await openSampleStore(30);
  await putLines(sample.store, lines);
  assertEquals((await audit(sample)).faults[0], fault);

  // The next line shows that an altered line is not one of a newer version.
  const { counts, firstBadPosition } = await auditFile(original.with(14, newer));
  assertEquals([counts, firstBadPosition], [{ newer_line: 1, line: 1 }, 15]);
  const unlinked = changed(newer, /"previoushash":"\w+"/, `"previoushash":"${sha256Hex("other")}"`);
  const last = await auditFile(rewritten(original, 14, unlinked).slice(0, 15));
  assertEquals([last.counts, last.firstBadPosition], [{ newer_line: 1, line: 1 }, 14]);
});

Deno.test("audit() and auditLines() report the first one of two lines that do not fit together", async () => {
  using sample = await openSampleStore(30);
  const { lines } = sample;
  // If the previoushash was altered, the next line does not fit either.
  const cases: [from: string | RegExp, to: string, seconds: number[]][] = [
    ['"time":"2026', '"time":"2027', [1]],
    [/"previoushash":"..../, '"previoushash":"0000', [0, 1]],
  ];
  for (const [from, to, seconds] of cases) {
    for (const position of [2, 14]) {
      const forged = lines.with(position - 1, changed(lines[position - 1], from, to));
      await putLines(sample.store, forged);
      for (const { faults } of [await audit(sample), await auditFile(forged)]) {
        const found = seconds.map((second) => {
          const message = `Line ${position + second}: its previoushash is not the SHA-256 of the ` +
            "line before, so one of the two was altered";
          return { kind: "line" as const, position: position + second - 1, message };
        });
        assertEquals(faults, found);
      }
    }
  }
  // The head has the hash of the last line.
  await putLines(sample.store, lines.with(29, changed(lines[29], "2026", "2027")));
  assertEquals((await audit(sample)).counts.head, 1);
});

/** A record to write, without its checksum; `undefined` deletes it. */
type Change = [key: Key, content: Uint8Array | string | undefined];

/** A damage to a store of 33 events, and the messages of the audit. */
interface Damage {
  name: string;
  changes: Change[];
  messages: string[];
  firstBadPosition?: number;
}

const LINES = sampleLog(33);

const pet = (list: string, id: number) => projectionKey(1, petKey(list, id));
const removal = (id: number) => projectionKey(1, removedPetKey(id));
const isExtra = (record: string) => `${record} is there, but does not follow from the log`;

// Pet 3 was changed from no status.
const PET_3 = '5{"id":3,"name":"Zoë, changed at 5","categoryId":5,"status":"sold"}';
const ALTERED_PET_3 = changed(PET_3, "Zoë", "Zoé");
const FORMER_PET_3 = '4{"id":3,"name":"Zoë 3 🐈","categoryId":3}';

const CATEGORY = "Category -9223372036854775808 of generation 1";
const category = (id: bigint) => projectionKey(1, categoryKey(id));
const removedCategory = (id: bigint) => projectionKey(1, removedCategoryKey(id));

const NOT_EXACTLY = "The record at position 14 does not hold exactly lines 8 to 14";

/**
 * Lines 8 to 14 are one record of the log. Line 11 issues a key, line 12 revokes one, the others add pets.
 * Pet 14 was only added.
 */
const DAMAGES: Damage[] = [
  {
    name: "a line is missing within a record",
    changes: [[logKey(14), textOfLines(8, 9) + textOfLines(11, 14)]],
    messages: ["Line 10: its sequence says position 11, but 10 was expected"],
    firstBadPosition: 10,
  },
  {
    name: "the last record is missing",
    changes: [[logKey(33), undefined]],
    messages: ["Lines 30 to 33 are missing, although the head is at position 33"],
    firstBadPosition: 30,
  },
  {
    name: "a record is cut within a line",
    changes: [[logKey(14), textOfLines(8, 12).slice(0, -50)]],
    messages: [NOT_EXACTLY],
    firstBadPosition: 8,
  },
  {
    name: "a pet is altered",
    changes: [[pet("sold", 3), ALTERED_PET_3]],
    messages: ["Pet 3 in the list sold of generation 1 is not what the log says"],
  },
  {
    name: "a pet is in its former list",
    changes: [[pet("none", 3), FORMER_PET_3], [pet("sold", 3), undefined]],
    messages: [
      isExtra("Pet 3 in the list none of generation 1"),
      "Pet 3 in the list sold of generation 1 is missing",
    ],
  },
  {
    name: "blocks of a column of an earlier version are left",
    changes: [[projectionKey(1, ["block_of_pets", 2]), "{}\n"]],
    messages: [
      'Record ["projection",1,"block_of_pets",2] is of a kind that no event makes; a replay removes it',
    ],
  },
  {
    name: "a removal names another event",
    changes: [[removal(1), "16"]],
    messages: ["The removal of pet 1 of generation 1 is not what the log says"],
  },
  {
    name: "a category is missing",
    changes: [[category(INT64_MIN), undefined]],
    messages: [`${CATEGORY} is missing`],
  },
  {
    name: "a category that is there has a removal",
    changes: [[removedCategory(INT64_MIN), '{"position":19}']],
    messages: [isExtra("The removal of category -9223372036854775808 of generation 1")],
  },
];

for (const { name, changes, messages, firstBadPosition } of DAMAGES) {
  Deno.test(`audit() says what is wrong and where, once for each record, if ${name}`, async () => {
    using sample = await openSampleStore(LINES.length);
    for (const [key, content] of changes) await putRecord(sample.store, key, content);
    const report = await audit(sample);
    assertEquals(report.faults.map(({ message }) => message), messages);
    assertEquals(report.firstBadPosition, firstBadPosition);
  });
}

testNeeding(permissions("read", "write", "net", "run"))(
  "audit() finds each record of a file that is set to expire",
  () =>
    withSampleFile(async ({ kvPath, store }) => {
      function* readExpiringRecords() {
        using reader = new SqliteReader(kvPath);
        yield* reader.expiringRecords();
      }
      const deps = { store, runtime: systemRuntime, readExpiringRecords };
      assertEquals(await audit(deps).then(({ faults, notes }) => [faults, notes]), [[], []]);
      const entries = (await Array.fromAsync(scan(store, { prefix: [] }))).flat();
      const kinds = entries.map(({ key }) => key[2]);
      assert(kinds.includes("event_by_idempotency_key"));
      for (const { key, value } of entries) {
        setExpiry(kvPath, key, Date.now() + 3_600_000);
        const { faults, counts } = await audit(deps);
        const isOfLog = key[0] === "~log" || key[0] === "head";
        assertEquals(counts, { [isOfLog ? "log_expires" : "record_expires"]: 1 });
        const words = `Record ${formatKey(key)} is set to expire at 20`;
        assert(faults[0].message.startsWith(words), words);
        await commit(store, [set(key, value as Uint8Array)]);
      }
      assertEquals((await audit(deps)).faults, []);
      const { key } = entries.find(({ key }) => key[0] === "~log")!;
      // Another program can set any number.
      setExpiry(kvPath, key, 9_000_000_000_000_000);
      await commit(store, [{ type: "delete", key: HEAD_KEY }]);
      const { counts, faults } = await audit(deps);
      assertEquals(counts, { head: 1, log_expires: 1 });
      assertMatch(faults.at(0)!.message, /^Record .* is set to expire at \+275760-/);
    }),
);

Deno.test("audit() reports a head that is older than the log, and audits the whole log", async () => {
  using sample = await openSampleStore(40);
  const { head } = await readHead(APPLICATION, sample.store);
  const hash = sha256Hex(sample.lines[32]);
  for (const position of [33, 38]) {
    const older = encodeHead(APPLICATION, { ...head, position, lastHash: hash });
    await commit(sample.store, [set(HEAD_KEY, older)]);
    const checkpoint = { position: 40, hash: head.lastHash };
    const report = await audit(sample, { checkpoint });
    const message = `The head is at position ${position}, but the log continues after it`;
    assertEquals([report.position, report.faults], [40, [{ kind: "head", message }]]);
    await assertRejects(
      () => acceptLog(APPLICATION, sample.store),
      StoreRefusedError,
      "after the head record",
    );
  }
});

/** A store with pets that were added under Idempotency-Keys, at these hours from now. */
async function openStoreOfTimes(hours: number[]) {
  const empty = await openSampleStore(0);
  const { store, runtime } = empty;
  const timeOf = (hour: number) => new Date(runtime.now() + hour * 3_600_000).toISOString();
  const metadata = (hour: number, actor: string) => {
    return { id: runtime.newId(), time: timeOf(hour), actor };
  };
  const issue = metadata(Math.min(...hours), OPERATOR);
  const pets = hours.map((hour, index) => ({
    ...metadata(hour, issue.id),
    type: "PetCreated" as const,
    data: { id: index + 1, name: "Rex", categoryId: 1n },
    idempotencyKey: sha256Hex(`order ${index}`),
  }));
  const data = { keyId: issue.id, label: "test", tokenHash: sha256Hex("token") };
  await writeLog(store, runtime, linesOf([{ ...issue, type: "ApiKeyIssued", data }, ...pets]));
  /** Removes the idempotency records of these pets. */
  const remove = async (...ids: number[]) => {
    const mutations = ids.map((id): Mutation => {
      const { actor, idempotencyKey } = pets[id - 1];
      const key = idempotencyRecordKey(actor, idempotencyKey, id + 1);
      return { type: "delete", key: projectionKey(1, key) };
    });
    if (mutations.length > 0) await commit(store, mutations);
  };
  return { ...empty, actor: issue.id, remove };
}

/** `removed` are the pets whose records are missing, and `found` those that the audit finds. */
const CLOCKS: { name: string; hours: number[]; removed: number[]; found: number[] }[] = [
  { name: "still valid", hours: [-5, -1, -3, -2], removed: [2, 3], found: [2, 3] },
  { name: "expired by the clock and the log", hours: [-30, -29, 0], removed: [1, 2], found: [] },
  { name: "nothing was written since", hours: [-30, -29], removed: [1, 2], found: [1, 2] },
  { name: "events of a clock that was ahead", hours: [-1, 72, 71], removed: [1, 2], found: [1, 2] },
  { name: "an event of a clock behind is last", hours: [-30, 0, -40], removed: [1], found: [] },
  { name: "before 1970", hours: [-500_000, -499_999], removed: [], found: [] },
  { name: "expired, and still there", hours: [-72, -71, -1], removed: [], found: [] },
];

Deno.test("audit() finds the missing records of Idempotency-Keys that have not expired by the clock and by the log", async () => {
  for (const { name, hours, removed, found } of CLOCKS) {
    using sample = await openStoreOfTimes(hours);
    await sample.remove(...removed);
    const { faults, notes } = await audit({ ...sample, readExpiringRecords: () => [] });
    assertEquals(faults.map(({ kind }) => kind), found.map(() => "record_missing"), name);
    assertEquals(faults.map(({ position }) => position), found.map((id) => id + 1), name);
    assertEquals(notes, [], name);
  }
});

Deno.test("audit() has no result if a replay removes the records that it reads, unless it finds another fault", async () => {
  for (const isDamaged of [false, true]) {
    using sample = await openSampleStore(30);
    let replays = 0;
    const store = faultyStore(sample.store, {
      async onList(apply, range) {
        const isOfRecords = range.start?.[0] === "projection";
        if (isOfRecords && replays++ === 0) await replay(sample, { graceMs: 0 });
        return await apply();
      },
    });
    if (isDamaged) await putRecord(sample.store, ["theirs"], "");
    const { sound, unfinished, counts } = await audit({ store, runtime: sample.runtime });
    assertEquals([sound, counts], [false, isDamaged ? { foreign_record: 1 } : {}]);
    assertMatch(
      unfinished!,
      /^A replay has ended meanwhile, and removes the records of generation 1/,
    );
    assertEquals(replays > 0, true);
    if (!isDamaged) assertEquals((await audit(sample)).sound, true);
  }
});

Deno.test("audit() notes what a replay has left, and a replay removes it", async () => {
  // The served generation is 2.
  const left = [
    REPLAY_KEY,
    projectionKey(1, petKey("sold", 2)),
    projectionKey(1, ["block_of_pets", 1]),
    projectionKey(3, petKey("sold", 2)),
    projectionKey(4, ["lost", 1]),
  ];
  for (const key of left) {
    using sample = await openSampleStore(30);
    await replay(sample, { graceMs: 0 });
    await putRecord(sample.store, key, "{}");
    const { faults, notes } = await audit({ ...sample, readExpiringRecords: () => [] });
    assertEquals([faults, notes.map(({ kind }) => kind)], [[], ["replay_not_ended"]]);
    await replay(sample, { graceMs: 0 });
    const after = await audit({ ...sample, readExpiringRecords: () => [] });
    assertEquals([after.faults, after.notes], [[], []], formatKey(key));
  }
});

Deno.test("audit() accepts a head of format 6, also with its former members, and leaves it; the next commit upgrades it", async () => {
  using sample = await openSampleStore(30);
  const { store, runtime, keyId, head } = sample;
  const { position, lastHash, types, counts, generation } = head;
  const former = { format: 6, position, lastHash, types, counts, generation, removing: 1 };
  const earlier = withChecksum(HEAD_KEY, encodeJson(former));
  await commit(store, [set(HEAD_KEY, earlier)]);
  assertEquals((await readHead(APPLICATION, store)).head, head);
  assertEquals((await audit(sample)).faults, []);
  assertEquals((await store.get(HEAD_KEY))?.value, earlier);
  const { appender } = createService({ store, runtime, report: () => {} });
  await appender.append(addPetCommand(runtime, keyId, { name: "Mia", categoryId: 1n }));
  const written = await store.get(HEAD_KEY);
  const { head: next } = await readHead(APPLICATION, store);
  assertEquals(written?.value, encodeHead(APPLICATION, next));
  assertEquals((await audit(sample)).faults, []);
});

/** Damage to a pet that was changed while an audit ran, and the kind of fault that it is. */
const BESIDE_CHANGES: { name: string; content?: string; list: string; kind: string }[] = [
  { name: "is lost", list: "sold", kind: "record_missing" },
  { name: "is altered", list: "sold", content: "41{}", kind: "record_altered" },
  { name: "is also in another list", list: "pending", content: "41{}", kind: "record_extra" },
];

for (const { name, content, list, kind } of BESIDE_CHANGES) {
  Deno.test(`audit() finds that the record of a pet ${name} that changes meanwhile`, async () => {
    await using service = await openTestService();
    const { store, runtime } = service;
    const pet = { name: "Rex", categoryId: 1, status: "sold" };
    for (let count = 0; count < 20; count++) await service.add(pet);
    let isDone = false;
    const watched = faultyStore(store, {
      async onList(apply, range) {
        if (range.start?.[0] !== LOG_PREFIX[0] && !isDone) {
          isDone = true;
          assertEquals((await service.change(7, { name: "Max" })).status, 200);
          await putRecord(store, projectionKey(1, petKey(list, 7)), content);
        }
        return await apply();
      },
    });
    const { counts } = await audit({ store: watched, runtime });
    assertEquals([isDone, counts], [true, { [kind]: 1 }]);
  });
}

Deno.test("audit() reports a head that does not follow from the log", async () => {
  using sample = await openSampleStore(30);
  const { counts, types } = sample.head;
  const wrongCounts = { pets: { ...counts.pets, pending: 6 } };
  const wrongTypes = { ...types, PetUpdated: { version: "1", count: 4, last: 25 } };
  const cases: [head: Partial<Head>, what: string][] = [
    [
      { counts: wrongCounts },
      `its field counts is ${JSON.stringify(wrongCounts)}, but the log says ${
        JSON.stringify(counts)
      }`,
    ],
    [
      { types: wrongTypes },
      `its field types is ${JSON.stringify(wrongTypes)}, but the log says ${JSON.stringify(types)}`,
    ],
    [{ generation: 0 }, "generation 0 is not possible"],
  ];
  for (const [change, what] of cases) {
    await commit(sample.store, [
      set(HEAD_KEY, encodeHead(APPLICATION, { ...sample.head, ...change })),
    ]);
    const { faults } = await audit(sample);
    // If the generation is wrong, all its records are missing, too.
    const ofHead = faults.filter(({ kind }) => kind === "head");
    assertEquals(ofHead, [{ kind: "head", message: `The head is wrong: ${what}` }]);
  }
});

/** Keys that the service never writes, in every part of the store. */
const FOREIGN_KEYS = [
  ...[[new Uint8Array([1])], ["a"], ["head", 1], ["log", 5], ["replay", 1]],
  ...[["last_run"], ["last_run", "publish"], ["last_run", "audit", 1]],
  ...[["consumers"], ["consumers", 1], ["consumers", "mailer", "1"]],
  ...[["~log"], ["~log", 0], ["~log", 5.5], ["~log", 5, "x"], ["~log", 31], ["~log", "5"]],
  ...[["projection"], ["projection", 1]],
  ...[0, 1.5, "1"].map((generation) => ["projection", generation, "pet", "sold", 1]),
  ...[
    ...[["pet"], ["pet", 2], ["pet", "sold"], ["pet", "sold", 0], ["pet", "sold", 2.5]],
    ...[["pet", "sold", 2, 3], ["pet", "lost", 1], ["pet_by_name", "Rex", 1]],
    ...[["issued_key", "0".repeat(64)], ["issued_key", "0".repeat(64), 1]],
    ...[["key_state", "0".repeat(64)], ["key_state", 1], ["key_by_token", "0".repeat(64), 1]],
    ...[["event_by_idempotency_key", "a", "b"], ["event_by_idempotency_key", "a", "b", 3]],
  ].map((key) => ["projection", 1, ...key]),
] as Key[];

/** Replaces all records of the log by one for each line. */
async function putLines(store: Store, lines: string[]): Promise<void> {
  for (const { key } of (await Array.fromAsync(scan(store, { prefix: LOG_PREFIX }))).flat()) {
    await putRecord(store, key, undefined);
  }
  for (const [index, line] of lines.entries()) {
    await putRecord(store, logKey(index + 1), `${line}\n`);
  }
}

/** The text of these lines of {@linkcode LINES}, as a record of the log has it. */
function textOfLines(from: number, to: number): string {
  return decoder.decode(linesToBytes(LINES.slice(from - 1, to)));
}

function auditFile(lines: string[], options?: LogAuditOptions) {
  return auditLines(splitLines(new Blob([linesToBytes(lines)]).stream()), options);
}

function changed(text: string, from: string | RegExp, to: string): string {
  const result = text.replace(from, to);
  assertNotEquals(result, text);
  return result;
}
