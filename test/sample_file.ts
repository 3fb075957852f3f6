import { KvStore } from "../src/store/kv_store.ts";
import type { Mutation } from "../src/store/store.ts";
import { FakeHost } from "./fake_host.ts";
import { sampleLog } from "./sample_log.ts";
import { writeLog } from "./sample_store.ts";

/** A folder of its own with a store file in it that holds the sample. */
export async function withSampleFile(
  use: (parts: { folder: string; kvPath: string; lines: string[] }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const kvPath = `${folder}/pets.sqlite3`;
  // The records that expire do so by the real clock.
  const lines = sampleLog(40, { since: Date.now() });
  try {
    const store = new KvStore(await Deno.openKv(kvPath));
    await writeLog(store, new FakeHost(), lines);
    store.close();
    await use({ folder, kvPath, lines });
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
