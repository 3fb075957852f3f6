/** The tools on an application of its own. Nothing may be printed, and none of them needs the environment. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { LogDamagedError } from "eventstore-less";
import { projectionKey, sha256Hex } from "eventstore-less/parts";
import {
  audit,
  backup,
  type BackupProgress,
  ConvertedError,
  exportLog,
  IncompleteBackupError,
  openPublished,
  type Progress,
  prove,
  publish,
  RefusedError,
  replay,
  restore,
  ToolError,
  type ToolErrorCode,
  UnsoundError,
} from "eventstore-less/tools";
import { HEAD_KEY } from "../../../src/eventstore_less/keyspace.ts";
import { logKey } from "../../../src/eventstore_less/keyspace.ts";
import { Buffer } from "node:buffer";
import { createHash, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import process from "node:process";
import { overwritePage } from "../../support/overwrite_page.ts";
import { commit } from "../../support/store_contract.ts";
import { setRecord } from "../../support/set_record.ts";
import { permissions } from "../../support/test_needing.ts";
import { application, book, type Bookings, MINUTE_MS, openBookings, START_MS } from "./bookings.ts";

/** Enough for a tool to read, to write and to be aborted in several parts. */
const EVENTS = 4_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A test of tools in an empty folder. They may read and write files, and nothing else; what they print is a fault. */
function test(name: string, run: (folder: string) => Promise<void>): void {
  Deno.test({
    name,
    ignore: !permissions("read", "write").isMet,
    permissions: { read: true, write: true },
    async fn() {
      const folder = await Deno.makeTempDir();
      const printed: unknown[] = [];
      const restoreOutput = captureOutput(printed);
      try {
        await run(folder);
      } finally {
        restoreOutput();
        await Deno.remove(folder, { recursive: true });
      }
      assertEquals(printed, []);
    },
  });
}

/** Collects what is printed, and each handler of a signal, each exit. Returns the function that ends this. */
function captureOutput(printed: unknown[]): () => void {
  const places: [object: object, names: string[]][] = [
    [console, ["debug", "error", "info", "log", "warn"]],
    [Deno.stdout, ["write", "writeSync"]],
    [Deno.stderr, ["write", "writeSync"]],
    [process.stdout, ["write"]],
    [process.stderr, ["write"]],
    [process, ["exit", "on", "once", "addListener"]],
    [Deno, ["exit", "addSignalListener"]],
  ];
  const originals = places.flatMap(([object, names]) =>
    names.map((name) => [object, name, Reflect.get(object, name)] as const)
  );
  for (const [object, name] of originals) {
    Object.assign(object, { [name]: (...args: unknown[]) => printed.push([name, ...args]) });
  }
  return () => {
    for (const [object, name, original] of originals) Object.assign(object, { [name]: original });
  };
}

/** Collects progress. Each phase must grow, and end at its total. */
function progressLog() {
  const steps: Progress[] = [];
  return {
    onProgress: (progress: Progress) => void steps.push(progress),
    /** The phases in order, each with its end. */
    ends(): [phase: string, done: number][] {
      const ends: [phase: string, done: number][] = [];
      for (const { phase, done } of steps) {
        const last = ends.at(-1);
        if (last?.[0] !== phase) {
          ends.push([phase, done]);
          continue;
        }
        assert(done >= last[1], `${phase} goes back from ${last[1]} to ${done}`);
        last[1] = done;
      }
      return ends;
    },
  };
}

/** Options that abort a tool at a progress, after which it must reject with this reason. */
function abortAt<Progressed>(isThere: (progress: Progressed) => boolean) {
  const abort = new AbortController();
  const reason = new Error("The test has aborted it");
  const onProgress = (progress: Progressed) => {
    if (isThere(progress)) abort.abort(reason);
  };
  return { reason, options: { signal: abort.signal, onProgress } };
}

/** What a function rejects with. An abort may have any reason. */
async function rejectionOf(run: () => Promise<unknown>): Promise<unknown> {
  const outcome = await Promise.allSettled([run()]);
  assertEquals(outcome[0].status, "rejected");
  return (outcome[0] as PromiseRejectedResult).reason;
}

async function rejectsWithCode(
  run: () => Promise<unknown>,
  code: ToolErrorCode,
  isRefused: boolean,
): Promise<void> {
  const error = await assertRejects(run, ToolError);
  assertEquals([error.code, error instanceof RefusedError], [code, isRefused], error.message);
  // The words are for every application and every program.
  assertEquals(/deno task|--|KV_PATH|pets?\b/.exec(error.message), null, error.message);
}

async function exported(store: Bookings): Promise<string[]> {
  const chunks = await Array.fromAsync(exportLog(store));
  return decoder.decode(Buffer.concat(chunks)).trimEnd().split("\n");
}

function bytesOf(lines: readonly string[]): Uint8Array {
  return encoder.encode(lines.map((line) => `${line}\n`).join(""));
}

/** An export that arrives in chunks, which do not end with a line. */
function chunksOf(lines: readonly string[], chunkBytes = 100_000) {
  const bytes = bytesOf(lines);
  return async function* () {
    for (let start = 0; start < bytes.length; start += chunkBytes) {
      yield await Promise.resolve(bytes.subarray(start, start + chunkBytes));
    }
  };
}

/** The path of a closed file with bookings. */
async function bookingsFile(folder: string, count: number): Promise<string> {
  const path = `${folder}/bookings.sqlite3`;
  await using _store = await openBookings(path, { count });
  return path;
}

test("audit() proves a store in memory, in a file and at its location, and an export", async (folder) => {
  for (const location of [":memory:", `${folder}/bookings.sqlite3`]) {
    await using store = await openBookings(location, { count: EVENTS });
    const log = progressLog();
    const { sound, position, hash, summary, lastSound } = await audit(store, log);
    assertEquals([sound, position, lastSound, summary], [true, EVENTS, EVENTS, {
      bookings: EVENTS,
    }]);
    const lines = await exported(store);
    assertEquals(hash, sha256Hex(lines.at(-1)!));
    assertEquals(log.ends(), [["log", EVENTS], ["records", EVENTS]]);
    const onExport = progressLog();
    const report = await audit({ application, source: chunksOf(lines) }, onExport);
    assertEquals([report.sound, report.position], [true, EVENTS]);
    assertEquals(onExport.ends(), [["log", EVENTS]]);
    const empty = await openBookings(":memory:");
    assertEquals((await audit(empty)).sound, true);
    await empty.close();
  }
  const location = `${folder}/bookings.sqlite3`;
  const { sound, notes } = await audit({ application, location });
  assertEquals([sound, notes], [true, []]);
});

test("audit() reports what is wrong with a store, an export and the file itself", async (folder) => {
  const path = await bookingsFile(folder, EVENTS);
  {
    await using store = await openBookings(path);
    const record = projectionKey(1, ["booking", "7"]);
    await commit(store.store, [{ type: "delete", key: record }]);
    const { sound, counts, faults } = await audit(store);
    assertEquals([sound, counts], [false, { record_missing: 1 }]);
    assertMatch(faults[0].message, /booking/);
    await commit(store.store, [{ type: "delete", key: logKey(2_060) }]);
    const { counts: ofLog, lastSound, firstBadPosition } = await audit(store);
    assertEquals([ofLog, lastSound, firstBadPosition], [{ line: 1 }, 2_040, 2_041]);
    await commit(store.store, [{ type: "delete", key: HEAD_KEY }]);
  }
  const headless = await audit({ application, location: path });
  assertEquals([headless.sound, headless.counts.head], [false, 1]);
  {
    using database = new DatabaseSync(path);
    database.exec("pragma wal_checkpoint(truncate)");
  }
  overwritePage(path, 20);
  const damaged = await audit({ application, location: path });
  assert(damaged.counts.file_damaged! > 0);
  await Deno.writeTextFile(path, "Dear Ann".repeat(1_000));
  const { counts } = await audit({ application, location: path });
  // The other fault says up to which position the log can be read.
  assertEquals(counts, { file_damaged: 2 });
  const export_ = await audit({ application, source: path });
  assertEquals(export_.counts, { no_export: 1 });
});

test("audit() compares with a checkpoint, and an aborted one changes nothing", async () => {
  await using store = await openBookings(":memory:", { count: EVENTS });
  const { position, hash } = await audit(store);
  await book(store);
  const extended = await audit(store, { checkpoint: { position, hash } });
  assertEquals([extended.sound, extended.position], [true, EVENTS + 1]);
  const forged = await audit(store, { checkpoint: { position, hash: sha256Hex("other") } });
  assertEquals(forged.counts, { checkpoint: 1 });
  for (const phase of ["log", "records"]) {
    const { reason, options } = abortAt<Progress>((progress) => progress.phase === phase);
    assertEquals(await rejectionOf(() => audit(store, options)), reason);
  }
  const late = AbortSignal.abort(new Error("Too late"));
  await assertRejects(() => audit(store, { signal: late }), Error, "Too late");
});

test("replay() writes all records again while the store is used, and can be aborted in each phase", async (folder) => {
  for (const location of [":memory:", `${folder}/bookings.sqlite3`]) {
    await using store = await openBookings(location, { count: EVENTS });
    const lost = ["booking", "7"];
    await commit(store.store, [{ type: "delete", key: projectionKey(1, lost) }]);
    for (const phase of ["fill", "wait"]) {
      const { reason, options } = abortAt<Progress>((progress) => progress.phase === phase);
      assertEquals(await rejectionOf(() => replay(store, options)), reason);
      const { value } = await store.read(["booking", "8"]);
      assertEquals((value as { guest: string }).guest, "Guest 8");
      await book(store);
    }
    const log = progressLog();
    const { generation, events } = await replay(store, { graceMs: 0, ...log });
    // The aborted replay had already switched to generation 2.
    assertEquals([generation, events], [3, EVENTS + 2]);
    const phases = log.ends();
    assertEquals(phases.map(([phase]) => phase), ["fill", "wait", "remove"]);
    assertEquals(phases[0][1], EVENTS + 2);
    const { sound, notes } = await audit(store);
    assertEquals([sound, notes.map(({ kind }) => kind)], [true, ["expiry_not_audited"]]);
  }
});

test("replay() refuses a log that is not sound, and leaves the records as they are", async () => {
  await using store = await openBookings(":memory:", { count: 100 });
  const lines = await exported(store);
  const altered = lines[69].replace("2026-12-24", "2026-12-25");
  const record = bytesOf(lines.slice(60, 80).with(9, altered));
  await commit(store.store, [setRecord(logKey(80), record)]);
  const error = await assertRejects(() => replay(store, { graceMs: 0 }), UnsoundError);
  assertEquals([error.code, error.lastSound], ["log_unsound", 70]);
  assertMatch(error.message, /^Line 71: its previoushash is not .* was altered$/);
  assertEquals((await store.read(["booking", "60"])).head.generation, 1);
});

test("backup() continues its file, also after an abort, and follows until its signal", async (folder) => {
  for (const location of [":memory:", `${folder}/bookings.sqlite3`]) {
    const path = `${folder}/${location.replaceAll(/\W/g, "")}.jsonl`;
    await using store = await openBookings(location, { count: EVENTS });
    const { reason, options } = abortAt<BackupProgress>(({ phase }) => phase === "append");
    assertEquals(await rejectionOf(() => backup(store, path, options)), reason);
    const partial = (await Deno.readTextFile(path)).split("\n");
    assert(partial.length > 1 && partial.length < EVENTS && partial.at(-1) === "");
    await Deno.writeTextFile(path, '{"specver', { append: true });
    const steps: BackupProgress[] = [];
    const onProgress = (step: BackupProgress) => void steps.push(step);
    const { position, hash, added } = await backup(store, path, { onProgress });
    const lines = await exported(store);
    assertEquals(await Deno.readFile(path), bytesOf(lines));
    assertEquals([position, hash], [EVENTS, sha256Hex(lines.at(-1)!)]);
    assertEquals(added, EVENTS - partial.length + 1);
    assertEquals(steps[0], { phase: "open", position: EVENTS - added, removedBytes: 9 });
    assertEquals(steps.at(-2), { phase: "append", position: EVENTS, total: EVENTS });
    assertEquals(steps.at(-1), { phase: "sync", position: EVENTS, hash });
    assertEquals((await audit({ application, source: path })).sound, true);

    const stop = new AbortController();
    const following = backup(store, path, {
      follow: true,
      signal: stop.signal,
      async onProgress(progress) {
        if (progress.phase !== "sync") return;
        if (progress.position === EVENTS + 2) stop.abort();
        else await book(store);
      },
    });
    assertEquals((await following).added, 2);
    assertEquals(await Deno.readFile(path), bytesOf(await exported(store)));
  }
});

test("backup() closes a file and begins the next, which are one sound export together, and refuses a gap", async (folder) => {
  await using store = await openBookings(":memory:", { count: 40 });
  const [first, second] = ["first", "second"].map((name) => `${folder}/${name}.jsonl`);
  await backup(store, first);
  await rejectsWithCode(() => backup(store, second, { after: first }), "log_empty", true);
  await assertRejects(() => Deno.stat(second), Deno.errors.NotFound);
  await book(store, 2);
  const begun = await backup(store, second, { after: first });
  assertEquals([begun.start, begun.position, begun.added], [41, 42, 2]);
  await book(store);
  // The next runs do not need the first file.
  const next = await backup(store, second);
  assertEquals([next.start, next.position, next.added], [41, 43, 1]);
  assertEquals((await backup(store, second, { after: first })).added, 0);
  const lines = await exported(store);
  const both = await Deno.readTextFile(first) + await Deno.readTextFile(second);
  assertEquals(encoder.encode(both), bytesOf(lines));
  await Deno.writeTextFile(`${folder}/both.jsonl`, both);
  const { sound, position } = await audit({ application, source: `${folder}/both.jsonl` });
  assertEquals([sound, position], [true, 43]);
  await rejectsWithCode(
    () => audit({ application, source: second }).then(() => {}),
    "export_partial",
    false,
  );

  await Deno.writeFile(first, bytesOf(lines.slice(0, 39)));
  await rejectsWithCode(() => backup(store, second, { after: first }), "other_log", true);
  await Deno.writeTextFile(first, '{"specver', { append: true });
  await rejectsWithCode(
    () => backup(store, `${folder}/third.jsonl`, { after: first }),
    "not_an_export",
    true,
  );
  await using other = await openBookings(":memory:", { count: 50, together: 5 });
  await rejectsWithCode(() => backup(other, second), "other_log", true);
});

test("backup() refuses a file that is not of the log, and takes what a damaged log still gives", async (folder) => {
  const [location, path] = [`${folder}/bookings.sqlite3`, `${folder}/bookings.jsonl`];
  await using store = await openBookings(location, { count: 200 });
  const lines = await exported(store);
  const cases: [content: Uint8Array, code: ToolErrorCode][] = [
    [encoder.encode("Dear Ann\n"), "not_an_export"],
    [bytesOf(lines.with(-1, lines.at(-1)!.replace("2026-12-24", "2026-12-25"))), "other_log"],
    [encoder.encode(`\ufeff${decoder.decode(bytesOf(lines))}`), "converted"],
  ];
  for (const [content, code] of cases) {
    await Deno.writeFile(path, content);
    await rejectsWithCode(() => backup(store, path), code, true);
    assertEquals(await Deno.readFile(path), content);
  }
  await Deno.remove(path);
  await commit(store.store, [{ type: "delete", key: logKey(160) }]);
  // The pages of the file still hold the record that was deleted.
  for (const [log, end] of [[store, 140], [{ application, location }, 200]] as const) {
    const error = await assertRejects(() => backup(log, path), IncompleteBackupError);
    assertEquals([error.code, error.report.position], ["log_damaged", end]);
    assert(error.cause instanceof LogDamagedError);
    assertEquals(await Deno.readFile(path), bytesOf(lines.slice(0, end)));
  }
});

test("exportLog() yields the bytes of the log, or of a part of it, and recovers what can be read", async (folder) => {
  const location = await bookingsFile(folder, EVENTS);
  const at = { application, location };
  await using store = await openBookings(location);
  const lines = await exported(store);
  assertEquals(lines.map((line) => JSON.parse(line).data.id).slice(-1), [String(EVENTS)]);
  const textOf = async (chunks: AsyncIterable<Uint8Array>) =>
    decoder.decode(Buffer.concat(await Array.fromAsync(chunks)));
  assertEquals(
    await textOf(exportLog(store, { from: 10, to: 12 })),
    `${lines[9]}\n${lines[10]}\n${lines[11]}\n`,
  );
  assertEquals(await textOf(exportLog(at, { from: EVENTS })), `${lines.at(-1)}\n`);
  const log = progressLog();
  await textOf(exportLog(store, log));
  assertEquals(log.ends(), [["export", EVENTS]]);
  const { reason, options } = abortAt<Progress>(() => true);
  assertEquals(await rejectionOf(() => textOf(exportLog(store, options))), reason);

  await commit(store.store, [
    { type: "delete", key: logKey(2_060) },
    { type: "delete", key: logKey(EVENTS) },
  ]);
  await assertRejects(() => textOf(exportLog(store)), LogDamagedError, "Position 2041 ");
  const recoveredFrom = async (log: Parameters<typeof exportLog>[0]) => {
    const chunks = exportLog(log, { recover: true });
    const bytes: Uint8Array[] = [];
    let next = await chunks.next();
    for (; !next.done; next = await chunks.next()) bytes.push(next.value);
    return { text: decoder.decode(Buffer.concat(bytes)), report: next.value };
  };
  const readable = [...lines.slice(0, 2_040), ...lines.slice(2_060, EVENTS - 20)];
  assertEquals(await recoveredFrom(store), {
    text: decoder.decode(bytesOf(readable)),
    report: {
      position: EVENTS - 20,
      missing: [{ from: 2_041, to: 2_060 }, { from: EVENTS - 19, to: EVENTS }],
    },
  });
  // The pages of the file still hold the records that were deleted.
  assertEquals(await recoveredFrom(at), {
    text: decoder.decode(bytesOf(lines)),
    report: { position: EVENTS, missing: [] },
  });
});

test("restore() makes the same log and all records, at a location or in an open store", async (folder) => {
  await using original = await openBookings(":memory:", { count: EVENTS });
  const lines = await exported(original);
  const path = `${folder}/export.jsonl`;
  await Deno.writeFile(path, bytesOf(lines));
  const location = `${folder}/restored.sqlite3`;
  const log = progressLog();
  const { position, hash, kept, exported: { latestMs }, redacted, consequences } = await restore(
    path,
    application,
    location,
    log,
  );
  assertEquals([position, hash, kept], [EVENTS, sha256Hex(lines.at(-1)!), EVENTS]);
  assertEquals(latestMs, Date.parse(JSON.parse(lines.at(-1)!).time));
  assertEquals([redacted.size, consequences], [0, []]);
  assertEquals(log.ends(), [["verify", EVENTS], ["write", EVENTS]]);
  {
    await using store = await openBookings(location);
    assertEquals(await exported(store), lines);
    assertEquals((await audit(store)).sound, true);
    const again = () => restore(path, application, store);
    await rejectsWithCode(again, "store_not_empty", false);
  }
  await using empty = await openBookings(":memory:");
  await restore(() => exportLog(original), application, empty);
  assertEquals(await exported(empty), lines);
  await book(empty);
  assertEquals((await audit(empty)).position, EVENTS + 1);
});

test("restore() ends at a position or a time, and erases personal data", async (folder) => {
  await using original = await openBookings(":memory:", { count: 500 });
  const lines = await exported(original);
  const source = chunksOf(lines);
  const restored = async (options: Parameters<typeof restore>[3]) => {
    const location = `${folder}/${crypto.randomUUID()}.sqlite3`;
    const report = await restore(source, application, location, options);
    await using store = await openBookings(location);
    assertEquals((await audit(store)).sound, true);
    return { report, lines: await exported(store) };
  };
  const to = await restored({ to: 120 });
  assertEquals(to.lines, lines.slice(0, 120));
  assertEquals([to.report.kept, to.report.exported.position], [120, 500]);
  const until = await restored({ until: new Date(START_MS + 3 * MINUTE_MS).toISOString() });
  assertEquals(until.lines, lines.slice(0, 60));
  const nextTime = new Date(START_MS + 3 * MINUTE_MS).toISOString();
  assertEquals(until.report.endOfTime, { position: 60, nextTime, earlierAfter: 0 });
  const log = progressLog();
  const { report, lines: erased } = await restored({
    to: 400,
    redact: ["bookings/7", "bookings/300"],
    ...log,
  });
  assertEquals([...report.redacted], [["bookings/7", 1], ["bookings/300", 1]]);
  assertEquals([report.position, report.kept], [400, 6]);
  assertEquals(log.ends().map(([phase, done]) => [phase, done]), [
    ["verify", 400],
    ["verify_redacted", 400],
    ["read", 500],
    ["write", 400],
  ]);
  const guests = erased.map((line) => JSON.parse(line).data.guest);
  assertEquals(guests.filter((guest) => guest === "(removed)").length, 2);
  assertEquals([guests[5], guests[6]], ["Guest 6", "(removed)"]);
});

test("restore() refuses what it cannot restore, and then writes nothing", async (folder) => {
  await using original = await openBookings(":memory:", { count: 100 });
  const lines = await exported(original);
  const location = `${folder}/restored.sqlite3`;
  const run = (source: readonly string[], options?: Parameters<typeof restore>[3]) => () =>
    restore(chunksOf(source), application, location, options);
  const gap = await assertRejects(run(lines.toSpliced(20, 1)), UnsoundError);
  assertEquals([gap.code, gap.lastSound, gap.named], ["log_unsound", 20, 22]);
  const windows = await assertRejects(run(lines.map((line) => `${line}\r`)), ConvertedError);
  assertEquals(windows.conversion, "converted");
  await rejectsWithCode(run([]), "export_empty", true);
  await rejectsWithCode(run(lines, { to: 101 }), "export_too_short", true);
  await rejectsWithCode(run(lines, { until: "2020-01-01" }), "export_too_short", true);
  await rejectsWithCode(run(lines, { redact: ["bookings/101"] }), "nothing_to_erase", true);
  await assertRejects(run(lines, { until: "yesterday" }), RangeError);
  assertEquals(Array.from(Deno.readDirSync(folder)), []);
});

test("restore() that is aborted while it writes is refused as a store, and resumes", async (folder) => {
  await using original = await openBookings(":memory:", { count: EVENTS });
  const lines = await exported(original);
  const location = `${folder}/restored.sqlite3`;
  const isInMiddle = ({ phase, done }: Progress) => phase === "write" && done > 0;
  const { reason, options } = abortAt(isInMiddle);
  const run = (more: Parameters<typeof restore>[3]) =>
    restore(chunksOf(lines), application, location, more);
  assertEquals(await rejectionOf(() => run(options)), reason);
  await assertRejects(() => openBookings(location), Error, "a restore into it is under way");
  await rejectsWithCode(() => run({ to: 100 }), "store_not_empty", false);
  const written: number[] = [];
  await run({
    onProgress({ phase, done }) {
      if (phase === "write") written.push(done);
    },
  });
  assertEquals([written[0], written.at(-1)], [0, EVENTS]);
  await using store = await openBookings(location);
  assertEquals(await exported(store), lines);
  assertEquals((await audit(store)).sound, true);
});

const ORIGIN = "log.example/bookings";

test("publish() and prove() make a log and proofs that a third party's check accepts", async (folder) => {
  await using store = await openBookings(":memory:", { count: 1_000 });
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const published = `${folder}/published`;
  const first = await publish(store, published, { key, origin: ORIGIN });
  assertEquals([first.origin, first.size, first.added], [ORIGIN, 1_000, 1_000]);
  const note = await Deno.readTextFile(`${published}/checkpoint`);
  await book(store, 300);
  const log = progressLog();
  const { size, added, vkey } = await publish(store, published, { key: privateKey, ...log });
  assertEquals([size, added, vkey], [1_300, 300, first.vkey]);
  assertEquals(log.ends(), [["publish", 1_300]]);
  assertEquals(openPublished(published).proveConsistency(note).size, 1_000);
  const lines = await exported(store);
  for (const log of [store, { application, source: chunksOf(lines) }]) {
    for (const event of [1, 700, 1_300, "bookings/700"]) {
      const { proof, line, position } = await prove(published, event, log);
      assertEquals(decoder.decode(line), lines[position - 1]);
      assert(isAccepted(proof, line, vkey));
      assert(!isAccepted(proof, line.with(-3, 0x30), vkey));
    }
  }
  const { sound } = await audit(store, { published: openPublished(published) });
  assertEquals(sound, true);
  await rejectsWithCode(() => prove(published, 1_301, store), "not_found", true);
  await rejectsWithCode(() => prove(published, "bookings/9999", store), "not_found", true);
  await book(store);
  await rejectsWithCode(() => prove(published, 1_301, store), "not_published", true);
});

test("publish() that is refused or aborted leaves what was published before", async (folder) => {
  await using store = await openBookings(":memory:", { count: EVENTS });
  const { privateKey: key } = generateKeyPairSync("ed25519");
  const published = `${folder}/published`;
  const run = (options: Partial<Parameters<typeof publish>[2]>) => () =>
    publish(store, published, { key, ...options });
  await rejectsWithCode(run({}), "origin_required", false);
  await rejectsWithCode(run({ origin: "https://log.example" }), "origin_invalid", false);
  await rejectsWithCode(run({ key: "secret", origin: ORIGIN }), "key_invalid", false);
  assertEquals(Array.from(Deno.readDirSync(folder)), []);
  const { reason, options } = abortAt<Progress>(() => true);
  assertEquals(await rejectionOf(run({ origin: ORIGIN, ...options })), reason);
  assertEquals(Array.from(Deno.readDirSync(published)), []);
  await rejectsWithCode(() => prove(published, 1, store), "not_published", false);
  assertEquals((await publish(store, published, { key, origin: ORIGIN })).added, EVENTS);
  await rejectsWithCode(run({ origin: "other.example" }), "other_key", false);
  await using other = await openBookings(":memory:", { count: EVENTS });
  await rejectsWithCode(() => publish(other, published, { key }), "published_differs", true);
});

/** Whether a proof of a line holds, checked from the specifications alone (tlog-proof, signed-note, RFC 6962). */
function isAccepted(proof: string, line: Uint8Array, vkey: string): boolean {
  const [head, ...rest] = proof.split("\n\n");
  const [format, indexLine, ...hashes] = head.split("\n");
  const note = rest.join("\n\n");
  const end = note.lastIndexOf("\n\n") + 1;
  const text = note.slice(0, end);
  const [origin, size, root] = text.split("\n");
  const [name, , material] = /^([^+]+)\+([^+]+)\+(.+)$/.exec(vkey)!.slice(1);
  const signature = Buffer.from(note.slice(end).trim().split(" ")[2], "base64").subarray(4);
  const x = Buffer.from(material, "base64").subarray(1).toString("base64url");
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const isSigned = verify(null, Buffer.from(text), publicKey, signature);
  const index = Number(indexLine.replace("index ", ""));
  const path = hashes.map((hash) => Buffer.from(hash, "base64"));
  const found = rootFrom(sha256(Buffer.of(0), line), index, Number(size), path);
  return format === "c2sp.org/tlog-proof@v1" && origin === name && isSigned &&
    found?.toString("base64") === root;
}

/** The root to which a path leads (RFC 9162, 2.1.3.2). */
function rootFrom(leaf: Buffer, index: number, size: number, path: Buffer[]): Buffer | undefined {
  let [node, last, hash] = [index, size - 1, leaf];
  for (const sibling of path) {
    if (last === 0) return undefined;
    if (node % 2 === 1 || node === last) {
      hash = sha256(Buffer.of(1), sibling, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [node >> 1, last >> 1];
    } else {
      hash = sha256(Buffer.of(1), hash, sibling);
    }
    [node, last] = [node >> 1, last >> 1];
  }
  return last === 0 ? hash : undefined;
}

function sha256(...parts: Uint8Array[]): Buffer {
  return createHash("sha256").update(Buffer.concat(parts)).digest();
}
