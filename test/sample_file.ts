import { KvStore } from "../src/store/kv_store.ts";
import type { Mutation, Store } from "../src/store/store.ts";
import { liveKeyOf, sampleLog } from "./sample_log.ts";
import { systemRuntime } from "../src/system_runtime.ts";
import { writeLog } from "./sample_store.ts";

export interface SampleFile {
  folder: string;
  kvPath: string;
  lines: string[];
  /** Id of the key that lives. */
  keyId: string;
  /** The store of the file, open until `use` has ended. */
  store: Store;
}

/** A folder of its own with a store file in it that holds the sample. */
export async function withSampleFile(use: (parts: SampleFile) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const kvPath = `${folder}/pets.sqlite3`;
  // The records that expire do so by the real clock.
  const lines = sampleLog(40, { since: Date.now() });
  try {
    const store = new KvStore(await Deno.openKv(kvPath));
    try {
      await writeLog(store, systemRuntime, lines);
      await use({ folder, kvPath, lines, keyId: liveKeyOf(lines), store });
    } finally {
      store.close();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes to the file past the service. */
export async function changeFile(kvPath: string, mutations: Mutation[]): Promise<void> {
  const store = new KvStore(await Deno.openKv(kvPath));
  await store.commit({ checks: [], mutations });
  store.close();
}
