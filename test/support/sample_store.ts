import { decodeLine } from "../../src/log/log_verifier.ts";
import { LogVerifier } from "../../src/log/log_verifier.ts";
import { encodeHead, type Head } from "../../src/log/head.ts";
import { project } from "../../src/projections/project.ts";
import { splitIntoCommits } from "../../src/store/commit_size.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import { HEAD_KEY, logKey, recordMutation } from "../../src/keyspace.ts";
import type { Mutation, Store } from "../../src/store/store.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { FakeRuntime } from "./fake_runtime.ts";
import { liveKeyOf, sampleLog } from "./sample_log.ts";

const encoder = new TextEncoder();

/**
 * Opens a new store in memory that holds the sample log of that length, as the service would have left it.
 */
export async function openSampleStore(length: number) {
  const store = new KvStore(await Deno.openKv(":memory:"));
  const runtime = new FakeRuntime();
  const lines = sampleLog(length, { since: runtime.now() });
  // The sample has used the first ids of the runtime, so skip them.
  for (let used = 0; used < length; used++) runtime.newId();
  const head = await writeLog(store, runtime, lines);
  return {
    store,
    runtime,
    lines,
    head,
    keyId: liveKeyOf(lines),
    [Symbol.dispose]: () => store.close(),
  };
}

/** Writes the lines, the records of generation 1 and the head, without checks. */
export async function writeLog(store: Store, runtime: Runtime, lines: string[]): Promise<Head> {
  const verifier = new LogVerifier();
  const mutations: Mutation[] = [];
  for (const [index, line] of lines.entries()) {
    const value = encoder.encode(line);
    verifier.verify(value);
    mutations.push({ type: "set", key: logKey(index + 1), value });
    for (const record of project(decodeLine(value))) {
      mutations.push(recordMutation(1, record, runtime.now()));
    }
  }
  mutations.push({ type: "set", key: HEAD_KEY, value: encodeHead(verifier.head) });
  for (const part of splitIntoCommits(mutations)) {
    await store.commit({ checks: [], mutations: part });
  }
  return verifier.head;
}
