import { decodeEvent, type RecordedLine } from "../../events/event.ts";
import { LogVerifier } from "../../src/log/log_verifier.ts";
import { encodeHead, type Head } from "../../src/log/head.ts";
import { project } from "../../src/projections/project.ts";
import { groupIntoCommits } from "../../src/store/commit_size.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import { HEAD_KEY, logMutations, retainedMutations } from "../../src/keyspace.ts";
import type { Mutation, Store } from "../../src/store/store.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { FakeRuntime } from "./fake_runtime.ts";
import { liveKeyOf, sampleLog } from "./sample_log.ts";

const encoder = new TextEncoder();

/** Numbers of lines in the records of a store, repeated: the service shares commits as it happens. */
const GROUP_SIZES: readonly number[] = [1, 4, 2, 7];

/**
 * Opens a new store in memory that holds the sample log of that length, as the service would have left it
 * after commits of these sizes.
 */
export async function openSampleStore(length: number, groupSizes = GROUP_SIZES) {
  const store = new KvStore(await Deno.openKv(":memory:"));
  const runtime = new FakeRuntime();
  const lines = sampleLog(length, { since: runtime.now() });
  // The sample has used the first ids of the runtime, so skip them.
  for (let used = 0; used < length; used++) runtime.newId();
  const head = await writeLog(store, runtime, lines, groupSizes);
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
export async function writeLog(
  store: Store,
  runtime: Runtime,
  lines: string[],
  groupSizes = GROUP_SIZES,
): Promise<Head> {
  const verifier = new LogVerifier();
  const recorded = lines.map((text): RecordedLine => {
    const line = encoder.encode(text);
    verifier.verify(line);
    return { event: decodeEvent(text), line };
  });
  const mutations: Mutation[] = [];
  for (let first = 0, group = 0; first < recorded.length; group++) {
    const lines = recorded.slice(first, first + groupSizes[group % groupSizes.length]);
    mutations.push(...logMutations(first + 1, lines.map(({ line }) => line)));
    first += lines.length;
  }
  mutations.push(...retainedMutations(1, project(recorded), runtime.now()));
  mutations.push({ type: "set", key: HEAD_KEY, value: encodeHead(verifier.head) });
  const seal = (mutations: readonly Mutation[]) => ({ mutations: [...mutations] });
  for await (const part of groupIntoCommits([mutations], seal, store.limits)) {
    await store.commit({ checks: [], mutations: part.mutations });
  }
  return verifier.head;
}
