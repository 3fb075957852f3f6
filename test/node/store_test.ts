/** The store on `node:sqlite` in a process on Node, alone and beside a Deno KV of this process on the same file. */

import { assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { KvStore } from "../../src/eventstore_less/store/deno_kv/kv_store.ts";
import { SqliteReader } from "../../src/eventstore_less/store/sqlite/sqlite_reader.ts";
import { scan } from "../../src/eventstore_less/store/scan.ts";
import type { Store, StoreEntry } from "../../src/eventstore_less/store/store.ts";
import { NotAppliedError, StoreClosedError } from "../../src/eventstore_less/store/store_errors.ts";
import { BUILT_PROGRAM } from "../support/programs.ts";
import { set, testStoreContract } from "../support/store_contract.ts";
import { TempStore } from "../support/temp_store.ts";
import { testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";
import { utf8 } from "../support/utf8.ts";
import { StoreOnNode } from "./store_on_node.ts";

const ROUNDS = 20;

testStoreContract({
  name: "SqliteStore on Node, on a file",
  needs: [BUILT_PROGRAM],
  async open() {
    const temp = await TempStore.make();
    return openOnNode(temp.kvPath, () => temp[Symbol.asyncDispose]());
  },
});

testStoreContract({
  name: "SqliteStore on Node, in memory",
  needs: [BUILT_PROGRAM],
  open: () => Promise.resolve(openOnNode(":memory:", () => {})),
});

function openOnNode(path: string, dispose: () => Promise<void> | void) {
  const store = new StoreOnNode(path);
  return {
    store,
    dispose: async () => {
      await store[Symbol.asyncDispose]();
      await dispose();
    },
  };
}

const test = testNeeding(BUILT_PROGRAM);

test("A Deno KV and a store on Node write one file at the same time, and kill -9 of Node loses nothing acknowledged", async () => {
  await using temp = await TempStore.make();
  const kvStore = new KvStore(await Deno.openKv(temp.kvPath), HEAD_KEY);
  /** The writer and the versionstamp of each acknowledged entry. */
  const acknowledged = new Map<number, [writer: string, versionstamp: string]>();
  const outcomes = { conflicts: 0, locked: 0 };

  /** Adds entries to a log, as the appender does: each commit checks and replaces the head. */
  const write = async (writer: string, store: Store, isOver: () => boolean) => {
    while (!isOver()) {
      const head = await store.get(["head"]);
      const position = head === null ? 1 : numberOf(head) + 1;
      const versionstamp = await store.commit({
        guard: { key: ["head"], versionstamp: head?.versionstamp ?? null },
        mutations: [set(["head"], `${position}`), set(["~log", position], writer)],
      });
      if (versionstamp === null) outcomes.conflicts++;
      else acknowledged.set(position, [writer, versionstamp]);
    }
  };
  const writeOn = async (...args: Parameters<typeof write>): Promise<void> => {
    try {
      await write(...args);
    } catch (error) {
      if (error instanceof StoreClosedError) return;
      if (!(error instanceof NotAppliedError)) throw error;
      outcomes.locked++;
      await writeOn(...args);
    }
  };

  for (let round = 1; round <= ROUNDS; round++) {
    let isOver = false;
    const store = new StoreOnNode(temp.kvPath);
    const writing = [["Deno", kvStore], ["Node", store]] as const;
    const running = writing.map(([writer, it]) => writeOn(`${writer} ${round}`, it, () => isOver));
    await until(() => [...acknowledged.values()].some(([writer]) => writer === `Node ${round}`));
    await sleep(Math.random() * 100);
    await store.kill();
    isOver = true;
    await Promise.all(running);
  }
  const entries: StoreEntry[] = [];
  for await (const batch of scan(kvStore, { prefix: ["~log"] })) entries.push(...batch);
  assertEquals(entries.map(({ key }) => key[1]), entries.map((_, index) => index + 1));
  assertEquals(entries.length, numberOf((await kvStore.get(["head"]))!));
  for (const [position, [writer, versionstamp]] of acknowledged) {
    const { value, versionstamp: stored } = entries[position - 1];
    assertEquals([value, stored], [utf8(writer), versionstamp]);
  }
  // Of each killed process, at most the last commit was stored without an acknowledgement.
  assertLessOrEqual(entries.length, acknowledged.size + ROUNDS);
  for (const name of ["Deno", "Node"]) {
    const count = [...acknowledged.values()].filter(([writer]) => writer.startsWith(name)).length;
    assertGreater(count, ROUNDS);
  }
  kvStore.close();
  const store = new StoreOnNode(temp.kvPath);
  const range = { start: ["~log", entries.length - 9], end: ["~log", Infinity] };
  assertEquals(await store.list(range, { limit: 500 }), entries.slice(-10));
  store.close();
  await store[Symbol.asyncDispose]();
  using reader = new SqliteReader(temp.kvPath);
  reader.checkStructure();
  console.log({ ...outcomes, acknowledged: acknowledged.size });
});

function numberOf({ value }: StoreEntry): number {
  return Number(new TextDecoder().decode(value as Uint8Array));
}
