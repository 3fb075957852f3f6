import {
  assert,
  assertEquals,
  assertGreater,
  assertMatch,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import {
  audit,
  AuditImpossibleError,
  auditLines,
  PartialExportError,
} from "../../../scripts/audit/audit.ts";
import { FAULTS_KEPT_PER_KIND } from "../../../scripts/audit/findings.ts";
import { OPERATOR } from "../../../events/event.ts";
import { compareServed } from "../../../scripts/audit/compare.ts";
import { splitLines } from "../../../src/log/lines.ts";
import { acceptLog } from "../../../src/log/accept_store.ts";
import { encodeHead, type Head, readHead } from "../../../src/log/head.ts";
import { replay } from "../../../scripts/replay/replay.ts";
import { createService } from "../../../src/service.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { SOME_IDEMPOTENCY_KEY } from "../../../src/keyspace.ts";
import { expiringRecordsOf } from "../../../src/store/read_expiring_records.ts";
import { systemRuntime } from "../../../src/runtime/system_runtime.ts";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { permitted } from "../../support/permitted.ts";
import { withSampleFile } from "../../support/sample_file.ts";
import { KvStore } from "../../../src/store/deno_kv/kv_store.ts";
import { formatKey } from "../../../src/store/key_encoding/key_text.ts";
import {
  HEAD_KEY,
  LOG_PREFIX,
  logKey,
  petByIdempotencyKeyKey,
  petByStatusKey,
  petKey,
  type ProjectionKey,
  projectionKey,
  REPLAY_KEY,
} from "../../../src/keyspace.ts";
import { scan } from "../../../src/store/scan.ts";
import { StoreRefusedError } from "../../../src/store/store_errors.ts";
import type { Key, Mutation, Store } from "../../../src/store/store.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { IMPOSSIBLE_HISTORIES } from "../../support/histories.ts";
import { linesOf, linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { damageEveryRecord } from "./audit_damage.ts";
import { openSampleStore, writeLog } from "../../support/sample_store.ts";
import { faultyStore } from "../../support/faulty_store.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

Deno.test("audit() finds every altered byte and every lost, repeated or misplaced piece, and accepts every grouping", async () => {
  // 13 events are the fewest that make several records of each kind, with several lines each.
  const { damages, groupings, missed, refused } = await damageEveryRecord(13);
  assertEquals(missed, []);
  assertEquals(refused, []);
  assertGreater(damages, 8_000);
  assertGreater(groupings, 50);
});

Deno.test("audit() finds every foreign record", async () => {
  using sample = await openSampleStore(30);
  const missed: string[] = [];
  for (const key of FOREIGN_KEYS) {
    await commit(sample.store, [{ type: "set", key, value: "foreign" }]);
    const { sound, counts } = await audit(sample);
    if (sound) missed.push(formatKey(key));
    else assertEquals(Object.values(counts), [1], formatKey(key));
    await commit(sample.store, [{ type: "delete", key }]);
  }
  assertEquals(missed, []);
});

Deno.test("audit() proves with a checkpoint that a log extends it, or that the newest events were cut off", async () => {
  using sample = await openSampleStore(35);
  const at = (position: number) => ({ position, hash: sha256Hex(sampleLog(40)[position - 1]) });
  assertEquals((await audit(sample, { checkpoint: at(30) })).faults, []);
  const report = await audit(sample, { checkpoint: at(40) });
  assertEquals([report.counts, report.firstBadPosition], [{ checkpoint: 1 }, 36]);
  assertMatch(report.faults[0].message, /newest events were cut off/);
});

Deno.test("auditLines() finds with a checkpoint that history was rewritten, although the hashes fit", async () => {
  const lines = sampleLog(30);
  const checkpoint = { position: 20, hash: sha256Hex(lines[19]) };
  const line = lines[8].replace("Zoë", "Zoé");
  assertNotEquals(line, lines[8]);
  const forged = rewritten(lines, 8, line);
  assertEquals((await auditFile(forged)).sound, true);
  const report = await auditLines(bytesOf(forged), { checkpoint });
  assertEquals(report.counts, { checkpoint: 1 });
  assertMatch(report.faults[0].message, /^Line 20 is not the one that the checkpoint was taken at/);
});

Deno.test("audit() and auditLines() find every history that the service cannot have written", async () => {
  for (const { name, lines, fault } of IMPOSSIBLE_HISTORIES) {
    const store = new KvStore(await Deno.openKv(":memory:"));
    const runtime = new FakeRuntime();
    await writeLog(store, runtime, lines);
    for (const report of [await audit({ store, runtime }), await auditFile(lines)]) {
      const position = lines.length;
      const message = `Line ${position}: ${fault}`;
      assertEquals(report.faults, [{ kind: "line", position, message }], name);
    }
    store.close();
  }
});

Deno.test("auditLines() reports an export without an event, and says whether it has lines", async () => {
  for (const lines of [["# Animal Store", "", "{}"], ["\u0000"], ["SQLite format 3"]]) {
    const { position, faults, advice } = await auditFile(lines);
    const message = "The file is not an export of deno task log: it has no event";
    assertEquals([position, faults], [0, [{ kind: "no_export", message }]]);
    assertEquals(Object.keys(advice), ["no_export"]);
  }
  const message = "The export has no lines, so it is not a whole copy of a log";
  assertEquals((await auditFile([])).faults, [{ kind: "no_lines", position: 1, message }]);
});

Deno.test("auditLines() verifies a partial export from its first line", async () => {
  const lines = sampleLog(30);
  const whole = await auditFile(lines);
  const partial = await auditFile(lines.slice(9));
  assertEquals(partial, { ...whole, from: 10 });
  const altered = lines[14].replace('"time":"2026', '"time":"2027');
  const damaged = await auditFile(lines.with(14, altered).slice(9));
  assertEquals([damaged.from, damaged.firstBadPosition, damaged.counts], [10, 15, { line: 1 }]);
  const lost = await auditFile(lines.toSpliced(14, 1).slice(9));
  assertEquals(lost.faults[0].position, 15);
  // The position of a first line whose previoushash says that nothing is before it is wrong.
  const moved = lines[0].replace("0001", "0005");
  assertNotEquals(moved, lines[0]);
  const first = await auditFile([moved]);
  assertEquals([first.sound, first.from], [false, undefined]);
});

Deno.test("auditLines() compares a partial export with a checkpoint, unless events are missing between them", async () => {
  const lines = sampleLog(30);
  const partial = (checkpoint: { position: number; hash: string }) =>
    auditLines(bytesOf(lines.slice(9)), { checkpoint });
  const at = (position: number) => ({ position, hash: sha256Hex(lines[position - 1]) });
  assertEquals((await partial(at(9))).faults, []);
  assertEquals((await partial(at(20))).faults, []);
  assertEquals((await partial({ ...at(9), hash: at(8).hash })).counts, { checkpoint: 1 });
  await assertRejects(() => partial(at(8)), PartialExportError, "the checkpoint at position 8");
});

Deno.test("auditLines() rejects a partial export that must be compared with the published log", async () => {
  const comparePublished = () => ({ verify: () => undefined, end: () => undefined });
  await assertRejects(
    () => auditLines(bytesOf(sampleLog(30).slice(9)), { comparePublished }),
    PartialExportError,
    "The export begins at position 10, so it cannot be compared with the published log",
  );
});

Deno.test("audit() and auditLines() tell lines of a newer version from altered ones", async () => {
  const original = sampleLog(30);
  const newer = original[14].replace("pet-created:1", "pet-created:2");
  assertNotEquals(newer, original[14]);
  const lines = rewritten(original, 14, newer);
  const fault = {
    kind: "newer_line" as const,
    position: 15,
    message:
      "Line 15: A newer version wrote the line: schema urn:animal-store:pet-created:2 is not known",
  };
  const report = await auditFile(lines);
  assertEquals([report.faults, report.position], [[fault], 30]);
  assertMatch(report.advice.newer_line!, /^Upgrade the program/);
  using sample = await openSampleStore(30);
  await putLines(sample.store, lines);
  assertEquals((await audit(sample)).faults.filter(({ position }) => position === 15), [fault]);

  // The next line shows that an altered line is not one of a newer version.
  const { counts, firstBadPosition } = await auditFile(original.with(14, newer));
  assertEquals([counts, firstBadPosition], [{ newer_line: 1, line: 1 }, 15]);
  const unlinked = newer.replace(/"previoushash":"\w+"/, `"previoushash":"${sha256Hex("other")}"`);
  assertEquals((await auditFile(rewritten(original, 14, unlinked).slice(0, 15))).counts, {
    line: 1,
  });
});

Deno.test("audit() names the altered line of two that do not match", async () => {
  using sample = await openSampleStore(30);
  for (const position of [1, 4, 8, 11, 14, 15, 29, 30]) {
    const line = sample.lines[position - 1];
    const altered = line.replace(/"time":"2026/, '"time":"2027');
    assertNotEquals(altered, line);
    const range = { start: logKey(position), end: logKey(Number.MAX_SAFE_INTEGER) };
    const [{ key, value }] = await sample.store.list(range, { limit: 1 });
    const packed = decoder.decode(value as Uint8Array);
    const damaged = encoder.encode(packed.replace(line, altered));
    await commit(sample.store, [{ type: "set", key, value: damaged }]);
    const { firstBadPosition, faults } = await audit(sample);
    assertEquals(firstBadPosition, position, JSON.stringify(faults));
    await commit(sample.store, [{ type: "set", key, value: value as Uint8Array }]);
  }
});

/** Lines 8 to 14 of the sample are one record. Line 11 issues a key, line 12 revokes one, the others add pets. */
const DAMAGES: {
  name: string;
  /** The records of the log to store, by their keys. `lines` returns the lines from one position to another. */
  records: (lines: (from: number, to: number) => string) => Record<number, string>;
  firstBadPosition?: number;
  /** The faults of the log. Pets of lines that are lost are extra in the projections. */
  messages: string[];
}[] = [
  {
    name: "a line is missing within a record",
    records: (lines) => ({ 14: lines(8, 9) + lines(11, 14) }),
    firstBadPosition: 10,
    messages: ["Line 11: position 10 is missing"],
  },
  {
    name: "the first lines of a record are missing",
    records: (lines) => ({ 14: lines(10, 14) }),
    firstBadPosition: 8,
    messages: ["Line 10: positions 8 to 9 are missing"],
  },
  {
    name: "the last lines of a record are missing",
    records: (lines) => ({ 14: lines(8, 12) }),
    firstBadPosition: 13,
    messages: ["Line 15: positions 13 to 14 are missing"],
  },
  {
    name: "the last line of the log is missing within its record",
    records: (lines) => ({ 33: lines(30, 32) }),
    firstBadPosition: 33,
    messages: ["Line 33 is missing, although the head is at position 33"],
  },
  {
    name: "a record is missing",
    records: () => ({ 14: "" }),
    firstBadPosition: 8,
    messages: ["The record at position 14 holds no lines of the log"],
  },
  {
    name: "a record is cut within a line",
    records: (lines) => ({ 14: lines(8, 12).slice(0, -50) }),
    firstBadPosition: 12,
    messages: ["Lines 12 to 14: The line is not JSON"],
  },
  {
    name: "a record is cut before its last line feed",
    records: (lines) => ({ 14: lines(8, 14).slice(0, -1) }),
    firstBadPosition: 8,
    messages: ["The record at position 14 is not lines that each end with a line feed"],
  },
  {
    name: "a line feed is lost",
    records: (lines) => ({ 14: lines(8, 9).slice(0, -1) + lines(10, 14) }),
    firstBadPosition: 9,
    messages: ["Lines 9 to 10: The line is not JSON"],
  },
  {
    name: "a line feed is doubled",
    records: (lines) => ({ 14: lines(8, 9) + "\n" + lines(10, 14) }),
    firstBadPosition: 8,
    messages: ["The record at position 14 is not lines that each end with a line feed"],
  },
  {
    name: "a line is doubled",
    records: (lines) => ({ 14: lines(8, 10) + lines(10, 14) }),
    firstBadPosition: 10,
    messages: ["Line 10 is stored twice or out of order, in the record at position 14"],
  },
  {
    name: "a line is moved to the next record",
    records: (lines) => ({ 14: lines(8, 13), 15: lines(14, 15) }),
    firstBadPosition: 13,
    messages: ["The record of lines 8 to 13 is stored at position 14"],
  },
  {
    name: "a record lies within another one",
    records: (lines) => ({ 10: lines(9, 10) }),
    firstBadPosition: 8,
    messages: [
      "Line 9: position 8 is missing",
      "Lines 8 to 10 are stored twice or out of order, in the record at position 14",
    ],
  },
  {
    name: "a record is stored under a lower position",
    records: (lines) => ({ 13: lines(8, 14), 14: "deleted" }),
    firstBadPosition: 13,
    messages: ["The record of lines 8 to 14 is stored at position 13"],
  },
  {
    name: "a record is split under a wrong position",
    records: (lines) => ({ 11: lines(8, 10), 14: lines(11, 14) }),
    firstBadPosition: 10,
    messages: ["The record of lines 8 to 10 is stored at position 11"],
  },
  {
    name: "a line is missing within a record, and a later one names a position far beyond it",
    records: (lines) => ({
      14: lines(8, 8) + lines(10, 12) +
        lines(13, 14).replace(/"sequence":"0/, '"sequence":"9'),
    }),
    firstBadPosition: 9,
    messages: [
      "Line 10: position 9 is missing",
      "Line 13: its sequence says position 9000000000000013, but 13 was expected",
      "Line 13 was altered: the previoushash of line 14 does not match it",
    ],
  },
  {
    name: "a record is a text",
    records: (lines) => ({ 14: `text ${lines(8, 14)}` }),
    firstBadPosition: 8,
    messages: ["The record at position 14 holds no lines of the log"],
  },
  {
    name: "a record is split and another one merged, which is no damage",
    records: (lines) => ({ 10: lines(8, 10), 14: lines(11, 14), 15: "deleted", 19: lines(15, 19) }),
    messages: [],
  },
];

Deno.test("audit() reports a damaged record of the log as one fault at the right position", async () => {
  for (const { name, records, firstBadPosition, messages } of DAMAGES) {
    using sample = await openSampleStore(33);
    const stored = records((from, to) =>
      sample.lines.slice(from - 1, to).map((line) => `${line}\n`).join("")
    );
    for (const [last, value] of Object.entries(stored)) {
      const key = logKey(Number(last));
      await commit(sample.store, [
        value === "deleted"
          ? { type: "delete", key }
          : { type: "set", key, value: value.startsWith("text") ? value : encoder.encode(value) },
      ]);
    }
    const report = await audit(sample);
    const faults = report.faults.filter(({ kind }) => kind !== "record_extra");
    // The words of JSON.parse() are not ours.
    const found = faults.map(({ message }) => message.replace(/JSON: .*/, "JSON"));
    assertEquals(found, messages, name);
    assertEquals(report.firstBadPosition, firstBadPosition, name);
  }
});

Deno.test("audit() names the pet that differs, or the record that does not hold whole pets", async () => {
  const BY_ID = "the projection by id of generation 1";
  const BY_STATUS = "the projection by status sold of generation 1";
  // The records of pets 7 to 11, of which 10 is sold, and of the sold pets 14 and 17 after it.
  const cases: [
    key: ProjectionKey,
    change: (text: string) => string,
    firstBadPosition: number,
    messages: string[],
  ][] = [
    [petKey(11), (text) => text.replace('"name":"Zoë 9', '"name":"Zoé 9'), 10, [
      `Pet 9 in ${BY_ID} is not what the event at position 10 says`,
    ]],
    [petKey(11), (text) => text.replace(/.*"id":8,.*\n/, ""), 9, [
      `Pet 8 is missing from ${BY_ID}: the event at position 9 adds it`,
    ]],
    [petKey(11), (text) => text.replace(/.*"id":8,.*\n/, "$&$&"), 8, [
      'Record ["projection",1,"pet",11] is damaged: it does not hold whole pets in order',
    ]],
    [petKey(11), (text) => `{"id":6}\n${text}`, 7, [
      `Pet 6 is in ${BY_ID} once more than the log says`,
    ]],
    [petKey(11), (text) => text.slice(0, -9), 8, [
      'Record ["projection",1,"pet",11] is damaged: it does not hold whole pets in order',
    ]],
    [petByStatusKey("sold", 10), (text) => `{"id":9}\n${text}`, 10, [
      `Pet 9 is in ${BY_STATUS} once more than the log says`,
    ]],
    [petByStatusKey("sold", 10), (text) => text.replace("10,", "11,"), 13, [
      'Record ["projection",1,"pet_by_status","sold",10] is damaged: it does not hold whole pets in order',
    ]],
  ];
  for (const [recordKey, change, firstBadPosition, messages] of cases) {
    using sample = await openSampleStore(33);
    const key = projectionKey(1, recordKey);
    const text = decoder.decode((await sample.store.get(key))!.value as Uint8Array);
    assertNotEquals(change(text), text);
    await commit(sample.store, [{ type: "set", key, value: encoder.encode(change(text)) }]);
    const report = await audit(sample);
    assertEquals(report.faults.map(({ message }) => message), messages);
    assertEquals(report.firstBadPosition, firstBadPosition, messages[0]);
  }
});

Deno.test("auditLines() names the altered line of two that do not match, if that is possible", async () => {
  const lines = sampleLog(30);
  const altered = (position: number) =>
    lines.with(position - 1, lines[position - 1].replace('"time":"2026', '"time":"2027'));
  for (const position of [1, 8, 29]) {
    const report = await auditFile(altered(position));
    assertEquals(report.firstBadPosition, position);
    assertEquals(report.counts, { line: 1 });
  }
  const hash = sha256Hex("another");
  const last = lines.with(
    29,
    lines[29].replace(/"previoushash":"\w+"/, `"previoushash":"${hash}"`),
  );
  assertEquals((await auditFile(last)).faults.map(({ message }) => message), [
    "Line 29 or 30 was altered: they do not fit together",
  ]);
  const middle = lines.with(
    9,
    lines[9].replace(/"previoushash":"\w+"/, `"previoushash":"${hash}"`),
  );
  assertEquals((await auditFile(middle)).faults.map(({ message }) => message), [
    "Line 10 was altered: it fits neither the line before nor what follows",
  ]);
});

Deno.test({
  name: "audit() finds each record of a file that is set to expire, except idempotency records",
  ignore: !permitted("read", "write", "net", "run"),
  fn: () =>
    withSampleFile(async ({ kvPath, store }) => {
      const deps = {
        store,
        runtime: systemRuntime,
        readExpiringRecords: expiringRecordsOf(
          { kind: "file", path: kvPath, isDefault: false },
          systemRuntime,
          SOME_IDEMPOTENCY_KEY,
        ),
      };
      assertEquals(await audit(deps).then(({ faults, notes }) => [faults, notes]), [[], []]);
      const entries = (await Array.fromAsync(scan(store, { prefix: [] }))).flat();
      const missed: string[] = [];
      for (const { key, value } of entries) {
        const own = value as string | Uint8Array;
        const isToExpire = key[2] === "pet_by_idempotency_key";
        await commit(store, [{ type: "set", key, value: own, expireIn: 3_600_000 }]);
        const { faults, counts } = await audit(deps);
        const effect = key[0] === "~log"
          ? `its lines, up to line ${key[1]}, are lost then; export the log before that`
          : key[0] === "head"
          ? "the store serves nothing then; the next event that is added removes the expiry"
          : "a replay writes it again without an expiry";
        const found = faults.some(({ message }) =>
          message.startsWith(`Record ${formatKey(key)} is set to expire at 20`) &&
          message.endsWith(`: ${effect}`)
        );
        if (found === isToExpire) missed.push(formatKey(key));
        const isOfLog = key[0] === "~log" || key[0] === "head";
        const kind = isOfLog ? "log_expires" : "record_expires";
        assertEquals(counts, isToExpire ? {} : { [kind]: 1 });
        await commit(store, [{ type: "set", key, value: own }]);
      }
      assertEquals(missed, []);
    }),
});

Deno.test("audit() accepts events that are added while it runs", async () => {
  using sample = await openSampleStore(40);
  const { runtime, keyId } = sample;
  const { appender } = createService({ ...sample, report: () => {} });
  const add = () => {
    const pet = { name: "Rex", categoryId: 1n, status: "sold" as const };
    return appender.append(addPetCommand(runtime, keyId, pet));
  };
  const store = faultyStore(sample.store, {
    async onGet(apply) {
      const entry = await apply();
      // After the audit has read the head. The pets share commits.
      if (store.gets.length === 1) await Promise.all(Array.from({ length: 20 }, add));
      return entry;
    },
  });
  const report = await audit({ store, runtime });
  assertEquals(report.faults, []);
  assertEquals(report.position, 40);
  const after = await audit(sample);
  assertEquals([after.faults, after.position], [[], 60]);
});

Deno.test("audit() reports a head that is older than the log, and audits the whole log", async () => {
  using sample = await openSampleStore(40);
  const { head } = await readHead(sample.store);
  const hash = sha256Hex(sample.lines[32]);
  for (const position of [33, 38]) {
    const value = encodeHead({ ...head, position, lastHash: hash });
    await commit(sample.store, [{ type: "set", key: HEAD_KEY, value }]);
    const checkpoint = { position: 40, hash: head.lastHash };
    const report = await audit(sample, { checkpoint });
    const message = `The head is at position ${position}, but the log continues after it`;
    assertEquals([report.position, report.faults], [40, [{ kind: "head", message }]]);
    await assertRejects(() => acceptLog(sample.store), StoreRefusedError, "after the head record");
  }
});

Deno.test("audit() says that no event adds a pet", async () => {
  using sample = await openSampleStore(40);
  const value = encoder.encode('{"id":34,"name":"Rex","categoryId":1}\n');
  const [{ key, value: last }] = await sample.store.list(
    { prefix: projectionKey(1, petKey()) },
    { limit: 1, reverse: true },
  );
  const both = new Uint8Array([...last as Uint8Array, ...value]);
  const extra: Mutation[][] = [
    [{ type: "set", key: projectionKey(1, petKey(34)), value }],
    [{ type: "delete", key }, { type: "set", key: projectionKey(1, petKey(34)), value: both }],
  ];
  for (const mutations of extra) {
    await commit(sample.store, mutations);
    const { faults } = await audit(sample);
    const message = "Pet 34 is in the projection by id of generation 1, but no event adds it";
    assert(faults.some((it) => it.message === message), JSON.stringify(faults));
  }
});

/** A store with pets that were added under Idempotency-Keys, at these hours from now. */
async function openStoreOfTimes(hours: number[]) {
  const store = new KvStore(await Deno.openKv(":memory:"));
  const runtime = new FakeRuntime();
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
  /** Removes the idempotency records of these pets, as KV does when they expire. */
  const remove = async (...ids: number[]) => {
    const mutations = ids.map((id): Mutation => {
      const { actor, idempotencyKey } = pets[id - 1];
      const key = petByIdempotencyKeyKey(actor, idempotencyKey, id + 1);
      return { type: "delete", key: projectionKey(1, key) };
    });
    await commit(store, mutations);
  };
  return { store, runtime, remove, [Symbol.dispose]: () => store.close() };
}

const WRONG_CLOCK_NOTE = /^(\d) idempotency records? (is|are) missing, and a wrong clock explains/;

/** `removed` are the pets whose records are missing, and `found` those that no wrong clock explains. */
const CLOCKS: { name: string; hours: number[]; removed: number[]; found: number[] }[] = [
  { name: "events lie in the future", hours: [72, 71, 72], removed: [1, 2, 3], found: [] },
  { name: "a later event has an earlier time", hours: [-5, -1, -3, -2], removed: [2], found: [] },
  {
    name: "an event much later in the log has an earlier time",
    hours: [...Array(1_100).fill(-1), -2],
    removed: [1],
    found: [],
  },
  {
    // The times of the last pets differ little.
    name: "the clock was ahead for the fourth pet only",
    hours: [-4, -3, -2, -1, -1.5, -0.5, -0.51],
    removed: [1, 2, 3, 4, 5, 6, 7],
    found: [1, 2, 3, 5, 6, 7],
  },
  { name: "a clock behind kept the records", hours: [-72, -71, -1], removed: [], found: [] },
];

Deno.test("audit() finds missing idempotency records, and notes those that a wrong clock explains", async () => {
  for (const { name, hours, removed, found } of CLOCKS) {
    using sample = await openStoreOfTimes(hours);
    await sample.remove(...removed);
    const { faults, notes } = await audit(sample);
    assertEquals(faults.map(({ position }) => position), found.map((id) => id + 1), name);
    const explained = WRONG_CLOCK_NOTE.exec(notes.join())?.[1] ?? 0;
    assertEquals(Number(explained), removed.length - found.length, name);
    const { differences } = await compareServed(sample, () => {});
    assertEquals(differences.counts, { missing: found.length, extra: 0, altered: 0 }, name);
  }
});

Deno.test("audit() counts each of many missing idempotency records, and keeps the first ones", async () => {
  using sample = await openStoreOfTimes(Array.from({ length: 60 }, (_, index) => -9 + index / 60));
  await sample.remove(...Array.from({ length: 60 }, (_, index) => index + 1));
  const { counts, faults } = await audit(sample);
  assertEquals([counts, faults.length], [{ record_missing: 60 }, FAULTS_KEPT_PER_KIND]);
});

Deno.test("audit() starts again if a replay removes the records that it reads", async () => {
  using sample = await openSampleStore(30);
  const replays = (times: number) =>
    faultyStore(sample.store, {
      async onList(apply, range) {
        const isOfPets = "start" in range && range.start?.[2] === "pet";
        if (isOfPets && times-- > 0) await replay(sample, { graceMs: 0 });
        return await apply();
      },
    });
  assertEquals((await audit({ store: replays(1), runtime: sample.runtime })).faults, []);
  await assertRejects(
    () => audit({ store: replays(Infinity), runtime: sample.runtime }),
    AuditImpossibleError,
    "A replay flipped the projections during each attempt",
  );
  assertEquals((await audit(sample)).faults, []);
});

Deno.test("audit() finds faults in the generation that a replay builds", async () => {
  using sample = await openSampleStore(30);
  // A replay has filled nothing yet.
  const building = { generation: 2, until: 14 };
  const head = (building: Head["building"]): Mutation => {
    return { type: "set", key: HEAD_KEY, value: encodeHead({ ...sample.head, building }) };
  };
  // Up to the announcement the records may be missing; after it, every one must be there.
  const entries = (await Array.fromAsync(scan(sample.store, { prefix: ["projection", 1] }))).flat();
  const copies = entries.map(({ key, value }): Mutation => {
    return {
      type: "set",
      key: ["projection", 2, ...key.slice(2)],
      value: value as string | Uint8Array,
    };
  });
  await commit(sample.store, [head(building), ...copies]);
  const { faults, notes } = await audit(sample);
  assertEquals(faults, []);
  assertMatch(notes.join(), /^A replay builds generation 2/);
  const pet = (id: number) => projectionKey(2, petKey(id));
  await commit(sample.store, [{ type: "delete", key: pet(4) }]);
  assertEquals((await audit(sample)).faults, []);
  // The record of pets 18 to 23.
  await commit(sample.store, [{ type: "delete", key: pet(23) }]);
  assertEquals((await audit(sample)).counts, { record_missing: 6 });
  await commit(sample.store, [{ type: "set", key: pet(6), value: "{}" }]);
  assertEquals((await audit(sample)).counts, { record_altered: 1, record_missing: 6 });
  await commit(sample.store, [head({ generation: 3, until: 14 })]);
  assertEquals((await audit(sample)).counts.head, 1);
});

/** Keys that the service never writes, in every part of the store. */
const FOREIGN_KEYS = [
  [new Uint8Array([1])],
  ["a"],
  ["head", 1],
  ["heads"],
  ["log", 5],
  ["~log"],
  ["~log", 0],
  ["~log", -1],
  ["~log", 5.5],
  ["~log", 5, "x"],
  ["~log", 31],
  ["~log", "5"],
  ["~log", 5n],
  ["projection"],
  ["projection", 1],
  ["projection", 0, "pet", 1],
  ["projection", 2, "pet", 1],
  ["projection", "1", "pet", 1],
  projectionKey(1, ["pet"]),
  projectionKey(1, ["pet", 0]),
  projectionKey(1, ["pet", 2.5]),
  projectionKey(1, ["pet", 26]),
  projectionKey(1, ["pet", "2"]),
  projectionKey(1, ["pet", 2, 3]),
  projectionKey(1, ["pet_by_status", "available", 999]),
  projectionKey(1, ["pet_by_status", "lost", 1]),
  projectionKey(1, ["key_by_token", "0".repeat(64), 1]),
  projectionKey(1, ["key_by_token", "0".repeat(64), 99]),
  projectionKey(1, ["key_by_token", "0".repeat(64)]),
  projectionKey(1, ["pet_by_idempotency_key", "a", "b", 3]),
  projectionKey(1, ["pet_by_idempotency_key", "a", "b"]),
  projectionKey(1, ["pet_by_name", "Rex", 1]),
  REPLAY_KEY,
  ["replay", 1],
  ["z"],
  [1],
  [1n],
  [true],
] as Key[];

async function commit(store: Store, mutations: Mutation[]): Promise<void> {
  assertNotEquals(await store.commit({ checks: [], mutations }), null);
}

/** Replaces all records of the log by one for each line. */
async function putLines(store: Store, lines: string[]): Promise<void> {
  const records = (await Array.fromAsync(scan(store, { prefix: LOG_PREFIX }))).flat();
  await commit(store, records.map(({ key }) => ({ type: "delete", key })));
  const mutations = lines.map((line, index): Mutation => {
    return { type: "set", key: logKey(index + 1), value: encoder.encode(`${line}\n`) };
  });
  await commit(store, mutations);
}

function auditFile(lines: string[]) {
  return auditLines(bytesOf(lines));
}

function bytesOf(lines: string[]) {
  return splitLines(new Blob([linesToBytes(lines)]).stream());
}
