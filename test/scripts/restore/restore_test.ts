import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { ServiceError } from "../../../src/service_error.ts";
import { audit } from "../../../scripts/audit/audit.ts";
import {
  decodeHeadRecord,
  encodeHead,
  type Head,
  readHead,
  type RestoreMark,
} from "../../../src/log/head.ts";
import {
  type Export,
  ExportRefusedError,
  restore as restoreVerified,
  StoreNotFreeError,
  verifyExport,
} from "../../../scripts/restore/restore.ts";
import { HEAD_KEY, logKey } from "../../../src/keyspace.ts";
import { KvStore } from "../../../src/store/deno_kv/kv_store.ts";
import { scan } from "../../../src/store/scan.ts";
import type { Key, Mutation, Store } from "../../../src/store/store.ts";
import { contentOfGeneration } from "../../support/content_of.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { IMPOSSIBLE_HISTORIES, POSSIBLE_HISTORIES } from "../../support/histories.ts";
import { linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { atCommit, COMMIT_FAULTS, faultyStore } from "../../support/faulty_store.ts";
import { readLogLines } from "../../support/sound_log.ts";
import { openTestService } from "../../support/test_service.ts";

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
  const head = await verifyExport(source);
  await restoreVerified(deps, source, head);
  return head;
}

async function openStore(): Promise<Store & Disposable> {
  const store = new KvStore(await Deno.openKv(":memory:"));
  return Object.assign(store, { [Symbol.dispose]: () => store.close() });
}

/** Every record of a store. */
async function recordsOf(store: Store): Promise<[Key, unknown][]> {
  const entries = (await Array.fromAsync(scan(store, { prefix: [] }))).flat();
  return entries.map(({ key, value }) => [key, value]);
}

Deno.test("restore() writes exactly the content that the service had written", async () => {
  await using service = await openTestService();
  const { runtime } = service;
  for (let index = 0; index < 40; index++) {
    const status = ["available", "sold", undefined][index % 3];
    const headers: HeadersInit = index % 2 === 0 ? { "idempotency-key": `once-${index}` } : {};
    const response = await service.add(
      { name: `Zoë ${index}`, categoryId: index, status },
      headers,
    );
    assertEquals(response.status, 201);
  }
  const lines = await readLogLines(service.store);
  using store = await openStore();
  const head = await restore({ store, runtime }, exportOf(lines));
  assertEquals(head, (await readHead(service.store)).head);
  assertEquals((await readHead(store)).head, head);
  assertEquals(await readLogLines(store), lines);
  assertEquals(await contentOfGeneration(store, 1), await contentOfGeneration(service.store, 1));
  assertEquals((await audit({ store, runtime })).faults, []);
});

Deno.test("restore() restores an Idempotency-Key for 25 hours, as long as the store keeps it", async () => {
  const runtime = new FakeRuntime();
  const since = runtime.now() - 25 * 3_600_000;
  using store = await openStore();
  const lines = sampleLog(40, { since });
  await runtime.advance(20_000);
  await restore({ store, runtime }, exportOf(lines));
  const records = await recordsOf(store);
  const remembered = records.filter(([key]) => key.includes("pet_by_idempotency_key"));
  const inTime = lines.map((line) => JSON.parse(line)).filter(({ idempotencykey, time }) =>
    idempotencykey !== undefined && Date.parse(time) + 25 * 3_600_000 > runtime.now()
  );
  assert(inTime.length > 0 && inTime.length < lines.length / 3 - 2);
  assertEquals(remembered.length, inTime.length);
});

Deno.test("restore() refuses a bad line by its number, and writes nothing", async () => {
  const changed = LINES[599].replace('"id":', '"id": ');
  const cases: [string, string[], string][] = [
    ["broken", LINES.with(599, LINES[599].slice(0, -1)), "Line 600: The line is not JSON"],
    [
      "altered",
      LINES.with(599, changed),
      "Line 600: The line differs from the bytes that the service writes",
    ],
    ["reordered", LINES.with(599, LINES[600]).with(600, LINES[599]), "Line 600: its sequence says"],
    ["missing", LINES.toSpliced(599, 1), "Line 600: its sequence says position 601"],
    ["repeated", LINES.toSpliced(599, 0, LINES[598]), "Line 600: its sequence says position 599"],
    ["foreign", LINES.toSpliced(599, 0, '{"id":1}'), "Line 600: "],
    ["empty", LINES.toSpliced(599, 0, ""), "Line 600: The line is not JSON"],
    ["first missing", LINES.slice(1), "Line 1: its sequence says position 2, but 1 was expected"],
    ["forged", rewritten(LINES, 599, LINES[598]), "Line 600: "],
    ["none", [], "The export has no lines"],
  ];
  for (const [name, lines, words] of cases) {
    using store = await openStore();
    const deps = { store, runtime: new FakeRuntime() };
    await assertRejects(() => restore(deps, exportOf(lines)), ExportRefusedError, words);
    assertEquals(await recordsOf(store), [], name);
  }
});

Deno.test("restore() refuses a history that the service cannot have written, and writes nothing", async () => {
  for (const { name, lines, fault } of IMPOSSIBLE_HISTORIES) {
    using store = await openStore();
    const error = await assertRejects(
      () => restore({ store, runtime: new FakeRuntime() }, exportOf(lines)),
      ExportRefusedError,
    );
    assertEquals(error.message, `Line ${lines.length}: ${fault}`, name);
    assertEquals(await recordsOf(store), [], name);
  }
});

Deno.test("restore() accepts possible histories that look impossible", async () => {
  for (const { name, lines } of POSSIBLE_HISTORIES) {
    using store = await openStore();
    const { position } = await restore({ store, runtime: new FakeRuntime() }, exportOf(lines));
    assertEquals(position, lines.length, name);
  }
});

Deno.test("restore() refuses a store that is not empty, and does not change it", async () => {
  await using service = await openTestService();
  const before = await recordsOf(service.store);
  await assertRejects(
    () => restore(service, exportOf(LINES)),
    StoreNotFreeError,
    "already holds a log",
  );
  assertEquals(await recordsOf(service.store), before);

  using foreign = await openStore();
  await foreign.commit({ checks: [], mutations: [{ type: "set", key: ["theirs"], value: "x" }] });
  const deps = { store: foreign, runtime: new FakeRuntime() };
  await assertRejects(() => restore(deps, exportOf(LINES)), StoreNotFreeError, "is not empty");
  assertEquals(await recordsOf(foreign), [[["theirs"], "x"]]);
});

Deno.test("restore() killed at any commit leaves a store that is not served, and can be run again", async () => {
  using whole = await openStore();
  await restore({ store: whole, runtime: new FakeRuntime() }, exportOf(LINES));
  const expected = await restoredIn(whole);
  assertEquals(expected.lines, LINES);
  for (let attempt = 2;; attempt++) {
    const number = Math.floor(attempt / 2);
    const isApplied = attempt % 2 === 1;
    using store = await openStore();
    const killed = Promise.withResolvers<undefined>();
    const dying = faultyStore(store, {
      onCommit: atCommit(number, async (apply) => {
        if (isApplied) await apply();
        killed.resolve(undefined);
        return await new Promise(() => {});
      }),
    });
    const restored = restore({ store: dying, runtime: new FakeRuntime() }, exportOf(LINES));
    if (await Promise.race([restored, killed.promise]) !== undefined) {
      assertGreater(number, 4, "the sample needs several commits");
      break;
    }
    if ((await store.get(HEAD_KEY)) !== null && await readMark(store) === undefined) {
      // The last commit, which replaces the mark with the head, was applied.
      assertEquals(await restoredIn(store), expected);
      continue;
    }
    if (number > 1 || isApplied) {
      assert(await readMark(store) !== undefined);
      await assertRejects(() => readHead(store), ServiceError, "A log is being restored");
      const other = exportOf(sampleLog(30));
      await assertRejects(
        () => restore({ store, runtime: new FakeRuntime() }, other),
        StoreNotFreeError,
        "a restore of another export, of 1300 events",
      );
    }
    await restore({ store, runtime: new FakeRuntime() }, exportOf(LINES));
    const kill = `killed at commit ${number}, ${isApplied ? "" : "not "}applied`;
    assertEquals(await restoredIn(store), expected, kill);
  }
});

Deno.test("restore() continues a killed one after the events that its mark counts", async () => {
  const lines = sampleLog(5_000);
  /** Resolves to the number of commits. The one with that number hangs, and all others land. */
  const restoreKilledAt = async (store: Store, number: number) => {
    const landing: Promise<string | null>[] = [];
    const hung = Promise.withResolvers<void>();
    const dying = faultyStore(store, {
      onCommit(apply, _commit, current) {
        if (current === number) {
          hung.resolve();
          return new Promise(() => {});
        }
        const landed = apply();
        landing.push(landed);
        return landed;
      },
    });
    await Promise.race([
      restore({ store: dying, runtime: new FakeRuntime() }, exportOf(lines)),
      hung.promise,
    ]);
    // The commits in flight land.
    for (let seen = -1; seen < landing.length;) {
      seen = landing.length;
      await Promise.all(landing);
      await new Promise((resolve) => setTimeout(resolve));
    }
    return dying.commits.length;
  };
  using whole = await openStore();
  const commits = await restoreKilledAt(whole, Infinity);
  const expected = await restoredIn(whole);
  const counts = new Set<number>();
  // The first commit sets the mark and the last one the head.
  for (let number = 2; number < commits; number += 2) {
    using store = await openStore();
    await restoreKilledAt(store, number);
    const mark = (await readMark(store))!;
    counts.add(mark.restored);
    const rest = await restoreKilledAt(store, Infinity);
    assert(
      mark.restored === 0 || rest < commits,
      "the events that the mark counts are not written again",
    );
    assertEquals(await restoredIn(store), expected, `killed at commit ${number}`);
  }
  assertGreater(counts.size, 1, "the mark moves during the restore");
});

/** What a store holds, however its records are packed. Asserts that no records overlap. */
async function restoredIn(store: Store) {
  return {
    lines: await readLogLines(store),
    content: await contentOfGeneration(store, 1),
    head: (await store.get(HEAD_KEY))?.value,
  };
}

Deno.test("a service returns 503 until the restore of its store is complete", async () => {
  await using origin = await openTestService();
  assertEquals((await origin.add({ name: "Rex", categoryId: 1 })).status, 201);
  const lines = await readLogLines(origin.store);
  const statuses: number[] = [];
  await using service = await openTestService(undefined, { isDurable: true });
  await service.store.commit({
    checks: [],
    mutations: (await recordsOf(service.store)).map(([key]) => ({ type: "delete", key })),
  });
  const ask = async () => {
    const headers = { authorization: `Bearer ${origin.token}` };
    const responses = [
      await service.send("/v1/pets", { headers }),
      await service.send("/v1/pets/1", { headers }),
      await service.send("/readyz"),
    ];
    return responses.map(({ status }) => status);
  };
  const { runtime } = origin;
  const watched = faultyStore(service.store, {
    onCommit: atCommit(2, async (apply) => {
      statuses.push(...await ask());
      return await apply();
    }),
  });
  await restore({ store: watched, runtime }, exportOf(lines));
  assertEquals(statuses, [503, 503, 503]);
  assertEquals(await ask(), [200, 200, 200]);
});

Deno.test("restore() rejects if the export is not the verified one", async () => {
  const altered = [0, 700, LINES.length - 1].flatMap((index) => [
    LINES.with(index, LINES[index].slice(0, -1)),
    LINES.with(
      index,
      LINES[index].replace('"name":"', '"name":"x').replace('"label":"', '"label":"x'),
    ),
  ]);
  const others = [LINES.slice(0, 700), sampleLog(1_400), sampleLog(1_300, { since: 1 })];
  for (const lines of [...others, ...altered]) {
    using store = await openStore();
    const head = await verifyExport(exportOf(LINES));
    await assertRejects(
      () => restoreVerified({ store, runtime: new FakeRuntime() }, exportOf(lines), head),
      ExportRefusedError,
      "The export changed",
    );
    await assertRejects(() => readHead(store), ServiceError, "A log is being restored");
  }
});

Deno.test("restore() does not continue the restore of another export", async () => {
  using store = await openStore();
  const parts = { store, runtime: new FakeRuntime() };
  const lines = sampleLog(5_000);
  const head = await verifyExport(exportOf(lines));
  // It replaces the first export after the verification.
  const other = exportOf(sampleLog(5_000, { since: 1 }));
  await assertRejects(() => restoreVerified(parts, other, head), ExportRefusedError, "changed");
  assert((await readMark(store))!.restored > 0);
  await assertRejects(
    () => restore(parts, exportOf(lines)),
    StoreNotFreeError,
    "An earlier run restored another export",
  );
  await assertRejects(() => readHead(store), ServiceError, "A log is being restored");
});

Deno.test("restore() finds out whether a failed commit landed", async () => {
  using whole = await openStore();
  await restore({ store: whole, runtime: new FakeRuntime() }, exportOf(LINES));
  const expected = await recordsOf(whole);
  for (let number = 1; number <= 5; number++) {
    for (const fault of [COMMIT_FAULTS.landsAndFails, COMMIT_FAULTS.isLocked]) {
      using store = await openStore();
      const runtime = new FakeRuntime();
      const doubtful = faultyStore(store, { onCommit: atCommit(number, fault) });
      await runtime.settle(restore({ store: doubtful, runtime }, exportOf(LINES)));
      assertEquals(await recordsOf(store), expected);
    }
  }
});

Deno.test("restore() rejects if another process writes to the store", async () => {
  using store = await openStore();
  const value = encodeHead({ ...(await readHead(store)).head, position: 1 });
  const crossed = faultyStore(store, {
    onCommit: atCommit(1, async (apply) => {
      const mutations: Mutation[] = [
        { type: "set", key: HEAD_KEY, value },
        { type: "set", key: logKey(1), value: "theirs" },
      ];
      await store.commit({ checks: [], mutations });
      return await apply();
    }),
  });
  await assertRejects(
    () => restore({ store: crossed, runtime: new FakeRuntime() }, exportOf(LINES)),
    StoreNotFreeError,
    "Another restore or a service has begun to write",
  );
  assertEquals(await recordsOf(store), [[["head"], value], [["~log", 1], "theirs"]]);
});

async function readMark(store: Store): Promise<RestoreMark | undefined> {
  const record = decodeHeadRecord((await store.get(HEAD_KEY))?.value);
  return record.kind === "restore_mark" ? record.mark : undefined;
}
