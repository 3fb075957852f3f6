import { audit, restore as restoreVerified, verifyExport } from "../../support/tools.ts";
import { encodeJson } from "eventstore-less";
import { APPLICATION } from "../../../src/application.ts";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import { petCount } from "../../../src/animals/pet_counts.ts";
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { ServiceError } from "../../../src/eventstore_less/service_error.ts";
import {
  decodeHeadRecord,
  encodeHead,
  readHead,
  type RestoreMark,
} from "../../../src/eventstore_less/log/head.ts";
import type { Export } from "../../../src/eventstore_less/tools/tool_store.ts";
import { RefusedError } from "../../../src/eventstore_less/tools/refused_error.ts";
import { HEAD_KEY, isLogKey, logKey } from "../../../src/eventstore_less/keyspace.ts";
import type { Key, Mutation, Store } from "../../../src/eventstore_less/store/store.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { atCommit, dyingStore, faultyStore } from "../../support/faulty_store.ts";
import { openSampleStore } from "../../support/sample_store.ts";
import { contentOfGeneration, readLogLines, recordsOf } from "../../support/sound_log.ts";
import { SECONDS, testNeeding } from "../../support/test_needing.ts";
import { setRecord } from "../../support/set_record.ts";
import { commit, set } from "../../support/store_contract.ts";

const LINES = sampleLog(1_300);

/** An export that arrives in chunks. */
const exportOf = (lines: string[]) =>
  async function* () {
    for (let start = 0; start < lines.length; start += 400) {
      yield linesToBytes(lines.slice(start, start + 400));
    }
  };

/** Verifies and restores, like the command. */
async function restore(
  deps: { store: Store; runtime: FakeRuntime },
  source: Export,
): Promise<Head> {
  const verified = await verifyExport(source);
  await restoreVerified(deps, source, verified);
  return verified.head;
}

/** Opens an empty store. */
const openStore = () => openSampleStore(0);

Deno.test("restore() writes exactly the content that the service had written, and each pet once", async () => {
  using sample = await openSampleStore(1_300);
  const { runtime, lines } = sample;
  using copy = await openStore();
  const store = faultyStore(copy.store);
  const head = await restore({ store, runtime }, exportOf(lines));
  assertEquals(head, sample.head);
  assertEquals((await readHead(APPLICATION, store)).head, head);
  assertEquals(await readLogLines(store), lines);
  assertEquals(await contentOfGeneration(store, 1), await contentOfGeneration(sample.store, 1));
  const written = store.commits.flatMap(({ mutations }) => mutations)
    .filter(({ key }) => key[2] === "pet");
  assertEquals(written.filter(({ type }) => type !== "set"), []);
  assertEquals(written.length, petCount(head));
  assertEquals((await audit(copy)).faults, []);
});

Deno.test("restore() restores an Idempotency-Key for 25 hours, by the clock and by the log", async () => {
  using copy = await openStore();
  const { store, runtime } = copy;
  const early = sampleLog(40, runtime.now() - 25 * 3_600_000);
  await runtime.advance(20_000);
  const now = new Date(runtime.now()).toISOString();
  const lines = early.with(39, early[39].replace(/"time":"[^"]*"/, `"time":"${now}"`));
  // If only a clock that is ahead counted, all would be over.
  runtime.jumpClock(48 * 3_600_000);
  await restore(copy, exportOf(lines));
  runtime.jumpClock(-48 * 3_600_000);
  const records = await recordsOf(store);
  const remembered = records.filter(([key]) => key.includes("event_by_idempotency_key"));
  const inTime = lines.map((line) => JSON.parse(line)).filter(({ idempotencykey, time }) =>
    idempotencykey !== undefined && Date.parse(time) + 25 * 3_600_000 > runtime.now()
  );
  assert(inTime.length > 0 && inTime.length < lines.length / 3 - 2);
  assertEquals(remembered.length, inTime.length);
});

Deno.test("restore() refuses a bad line by its number, and writes nothing", async () => {
  const line = LINES[599];
  const unmatched = line.replace('"previous":{', '$&"categoryId":9999,');
  const cases: [lines: string[], refusal: string][] = [
    [LINES.with(599, line.slice(0, -1)), "Line 600: The line is incomplete: its end is missing"],
    [LINES.toSpliced(599, 1), "Line 600: its sequence says position 601"],
    [rewritten(LINES, 599, unmatched), "Line 600: its previous does not match pet"],
    [[], "The export has no lines"],
  ];
  for (const [lines, refusal] of cases) {
    using copy = await openStore();
    await assertRejects(() => restore(copy, exportOf(lines)), RefusedError, refusal);
    assertEquals(await recordsOf(copy.store), [], refusal);
  }
});

Deno.test("restore() refuses a store that is not empty, and does not change it", async () => {
  using sample = await openSampleStore(1);
  const { head } = sample;
  const record = (key: Key, content: unknown): Mutation => setRecord(key, encodeJson(content));
  const earlierMark = { format: "restore", storeFormat: 6, position: 30, restored: 3 };
  const ofFormat = (format: number, application: string) => ({ ...head, format, application });
  const cases: [mutation: Mutation, refusal: string][] = [
    [set(HEAD_KEY, encodeHead(APPLICATION, head)), "already holds a log"],
    [
      record(HEAD_KEY, { ...head, format: 1 }),
      "is not empty: it has format 1, of an older version",
    ],
    [record(HEAD_KEY, ofFormat(8, "Animal Store")), "is not empty: it has the newer format 8"],
    [record(HEAD_KEY, ofFormat(7, "Invoices")), "is not empty: it is a store of Invoices, not of"],
    [
      record(HEAD_KEY, earlierMark),
      "is not empty: it holds an unfinished restore of a version with format 6",
    ],
    [record(["theirs"], "x"), "is not empty; name another"],
  ];
  for (const [mutation, refusal] of cases) {
    using copy = await openStore();
    await commit(copy.store, [mutation]);
    const before = await recordsOf(copy.store);
    await assertRejects(() => restore(copy, exportOf(LINES)), Error, refusal);
    assertEquals(await recordsOf(copy.store), before);
  }
});

testNeeding(SECONDS)(
  "restore() killed at any commit leaves a store that is not served, and continues when it is run again",
  async () => {
    const restoreInto = async (inner: Store, source = exportOf(LINES)) => {
      const store = faultyStore(inner);
      await restore({ store, runtime: new FakeRuntime() }, source);
      return store.commits;
    };
    using whole = await openStore();
    const commits = (await restoreInto(whole.store)).length;
    const expected = await restoredIn(whole.store);
    assertEquals(expected.lines, LINES);
    const counts = new Set<number>();
    for (let number = 1; number <= commits; number++) {
      for (const isApplied of [true, false]) {
        const kill = `killed at commit ${number}, ${isApplied ? "" : "not "}applied`;
        using copy = await openStore();
        const { store: inner, runtime } = copy;
        const { store, killed } = dyingStore(inner, number, isApplied);
        restore({ store, runtime }, exportOf(LINES));
        await killed;
        const mark = await readMark(inner);
        // The first commit writes the mark, and the last one replaces it with the head.
        if (isApplied && number === commits) assertEquals(await restoredIn(inner), expected, kill);
        else if (isApplied || number > 1) {
          assert(mark !== undefined);
          counts.add(mark.restored);
          await assertRejects(
            () => readHead(APPLICATION, inner),
            ServiceError,
            "A log is being restored",
          );
          const other = () => restoreInto(inner, exportOf(sampleLog(30)));
          await assertRejects(other, Error, "a restore of another export, of 1,300 events");
          const written = (await restoreInto(inner)).flatMap(({ mutations }) => mutations)
            .filter(({ key }) => isLogKey(key) && key[1] <= mark.restored);
          assertEquals(written, [], "what the mark counts is not written again");
          assertEquals(await restoredIn(inner), expected, kill);
        }
      }
    }
    assertGreater(counts.size, 2, "the mark moves during the restore");
  },
);

/** The log, the projections and the head of a store. */
async function restoredIn(store: Store) {
  return {
    lines: await readLogLines(store),
    content: await contentOfGeneration(store, 1),
    head: (await store.get(HEAD_KEY))?.value,
  };
}

Deno.test("restore() rejects if the export is not the verified one, and then does not continue with that", async () => {
  const other = sampleLog(1_300, 1);
  const altered = [0, 700, LINES.length - 1].flatMap((index) => [
    LINES.with(index, LINES[index].slice(0, -1)),
    LINES.with(index, LINES[index].replace(/"(name|label)":"/, "$&x")),
  ]);
  for (const lines of [LINES.slice(0, 700), sampleLog(1_400), other, ...altered]) {
    using copy = await openStore();
    const verified = await verifyExport(exportOf(LINES));
    const restoring = restoreVerified(copy, exportOf(lines), verified);
    await assertRejects(() => restoring, RefusedError, "The export changed");
    if (lines === other) {
      assert((await readMark(copy.store))!.restored > 0);
      const message = "An earlier run restored another export";
      await assertRejects(() => restore(copy, exportOf(LINES)), Error, message);
    }
    await assertRejects(
      () => readHead(APPLICATION, copy.store),
      ServiceError,
      "A log is being restored",
    );
  }
});

Deno.test("restore() rejects if another process writes to the store", async () => {
  using copy = await openStore();
  const { store: inner, runtime, head } = copy;
  const theirs = [
    set(HEAD_KEY, encodeHead(APPLICATION, { ...head, position: 1 })),
    setRecord(logKey(1), "theirs"),
  ];
  const store = faultyStore(inner, {
    onCommit: atCommit(1, async (apply) => {
      await commit(inner, theirs);
      return await apply();
    }),
  });
  const restoring = restore({ store, runtime }, exportOf(LINES));
  const message = "Another restore or a service has begun to write";
  await assertRejects(() => restoring, Error, message);
  assertEquals(await recordsOf(store), theirs.map(({ key, value }) => [[...key], value]));
});

async function readMark(store: Store): Promise<RestoreMark | undefined> {
  const record = decodeHeadRecord(APPLICATION, (await store.get(HEAD_KEY))?.value);
  return record.kind === "restore_mark" ? record.mark : undefined;
}
