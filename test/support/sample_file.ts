import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { KvStore } from "../../src/eventstore_less/store/deno_kv/kv_store.ts";
import type { Mutation, Store } from "../../src/eventstore_less/store/store.ts";
import { liveApiKeyOf, sampleLog } from "./sample_log.ts";
import { writeLog } from "./sample_store.ts";
import { TempStore } from "./temp_store.ts";
import { commit } from "./store_contract.ts";

export interface SampleFile {
  folder: string;
  kvPath: string;
  lines: string[];
  keyId: string;
  /** The open store of the file. It is closed after `use`. */
  store: Store;
}

/** Calls `use` with a temporary folder that holds the sample in a store file. */
export async function withSampleFile(use: (parts: SampleFile) => Promise<void>): Promise<void> {
  await using temp = await TempStore.make();
  const { folder, kvPath } = temp;
  // Records expire by the real clock.
  const lines = sampleLog(40, Date.now());
  await temp.use(async ({ store, runtime }) => {
    await writeLog(store, runtime, lines);
    await use({ folder, kvPath, lines, keyId: liveApiKeyOf(lines), store });
  });
}

/** Changes the store file without the service. */
export async function changeFile(kvPath: string, mutations: Mutation[]): Promise<void> {
  if (mutations.length === 0) return;
  const store = new KvStore(await Deno.openKv(kvPath), HEAD_KEY);
  await commit(store, mutations);
  store.close();
}
