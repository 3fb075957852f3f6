import { cp } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { OpenStoreError } from "../../src/eventstore_less/store/open_store_error.ts";
import { buildDisk } from "../support/disk.ts";
import { LoadClient } from "../support/load_client.ts";
import { startOn } from "../support/node_service.ts";
import { RUNTIME, type RuntimeName } from "../support/programs.ts";
import { TempStore } from "../support/temp_store.ts";

const CONNECTIONS = 16;

/** So slow is the disk that a cut often meets writes that are not synced. */
const FSYNC_DELAY_US = "2000";

/** One of so many cuts, the first included, meets services that have stopped, so that the last one closed the store. */
const STOPPED_EVERY = 5;

/**
 * Cuts the power of two services on one file. After each cut, the file has what was synced, and some sectors that were
 * not; the log and all records must be sound, and the services must show what they acknowledged last. At the end, each
 * acknowledged pet and change must be stored once. Syncs of files whose names end in `unsynced` do nothing.
 */
export async function powerCuts(
  cuts: number,
  unsynced?: string,
  runtimes: readonly RuntimeName[] = [RUNTIME, RUNTIME],
): Promise<string> {
  await using store = await TempStore.make();
  await using disk = await TempStore.make();
  await using copy = await TempStore.make();
  await using built = await TempStore.make();
  const token = await store.issueApiKey();
  await replace(disk.folder, store.folder);
  const env = {
    ...await buildDisk(built.folder),
    FSYNC_DELAY_US,
    DISK: disk.folder,
    STORE: store.folder,
    ...(unsynced === undefined ? {} : { UNSYNCED: unsynced }),
  };
  const startAll = () => Promise.all(runtimes.map((it) => startOn(it, store.kvPath, env)));
  let services = await startAll();
  let [isOver, hasEnded] = [false, false];
  const load = new LoadClient({
    services() {
      // Otherwise a client would repeat a change forever.
      if (hasEnded) throw new Error("The services have ended");
      return services;
    },
    token,
    connections: CONNECTIONS,
    faults: "process",
    changes: true,
  });
  const running = load.run(() => isOver);
  try {
    for (let cut = 1; cut <= cuts; cut++) {
      await sleep(100 + Math.random() * 900);
      if (cut % STOPPED_EVERY === 1) { for (const service of services) await service.stop(); }
      await Promise.all(services.map((service) => service.stop("SIGKILL")));
      await replace(store.folder, disk.folder);
      await replace(disk.folder, store.folder);
      try {
        // An audit that closes the store writes its file.
        await retryIfDiskFails(async () => {
          await replace(copy.folder, disk.folder);
          await copy.use((service) => load.expectChanges(service));
        });
        services = await startAll();
        for (const service of services) await load.expectFresh(service);
      } catch (cause) {
        const files = [...Deno.readDirSync(disk.folder)]
          .map(({ name }) => `${name} ${Deno.statSync(`${disk.folder}/${name}`).size}`);
        throw new Error(`Cut ${cut} has lost something of ${files.join(", ")}`, { cause });
      }
    }
    isOver = true;
    await running;
    for (const service of services) await load.expectServed(service);
    await store.use((service) => load.expectLogged(service));
  } finally {
    [isOver, hasEnded] = [true, true];
    for (const service of services) await service.stop("SIGKILL");
    await running;
  }
  return `${cuts} cuts: ${load.summary}; nothing acknowledged is lost`;
}

/**
 * Audits the files of a cut, and once more if the disk of this machine fails: an error that these files cause comes again.
 * It came once in some thousand cuts, beside other suites.
 */
async function retryIfDiskFails(audit: () => Promise<void>): Promise<void> {
  try {
    await audit();
  } catch (error) {
    if (!(error instanceof OpenStoreError) || !error.message.includes("its disk fails")) {
      throw error;
    }
    console.error(`The disk of this machine has failed: ${error.message}`);
    await audit();
  }
}

/**
 * Replaces the files in a folder by those of another one, without files whose names were never synced. Sometimes an
 * outdated index of the WAL is left.
 */
async function replace(folder: string, by: string): Promise<void> {
  const isIndexLeft = Math.random() < 0.5;
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith("-shm") || !isIndexLeft) await Deno.remove(`${folder}/${name}`);
  }
  for await (const { name } of Deno.readDir(by)) {
    if (!/(~|-shm)$/.test(name)) await cp(`${by}/${name}`, `${folder}/${name}`);
  }
}
