import { LogDamagedError } from "eventstore-less";
import type { Instance } from "eventstore-less";
import { acceptLog, HeadLostError, readHead, readLog } from "eventstore-less/parts";
import { type Store, StoreDamagedError, StoreRefusedError } from "eventstore-less/store";
import {
  Backup,
  continuingLines,
  formatCounted,
  isDamage,
  lockFile,
  realPath,
  RefusedError,
} from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { type FileHandle, open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isatty } from "node:tty";
import { configuredStore } from "../cli/configured_store.ts";
import { followStore } from "../cli/log_source.ts";
import { progressOf } from "../cli/progress.ts";
import { print, retryingStore, runCommand, say, UsageError } from "../cli/run_command.ts";
import { withReader } from "../cli/with_reader.ts";
import { COMMANDS } from "../cli/commands.ts";

/** Ends of the names of the files that SQLite keeps for a store. */
const FILES_OF_SQLITE = ["", "-wal", "-shm", "-journal"];

const showBackingUp = progressOf("Backing up", "events");
const showBackedUp = progressOf("Backed up", "events");

const stop = new AbortController();
let path = "";
let isFollowing = false;
let backup: Backup | undefined;

await runCommand(COMMANDS.backup, {
  refusals: [LogDamagedError, StoreDamagedError, HeadLostError],
  stop,
  interrupt() {
    const how = isFollowing ? "Stopped" : "Interrupted";
    const end = backup ? `${path} ends at position ${backup.position}` : "Nothing was written";
    return `${how}. ${end}. Run the same command again to continue.`;
  },
  endsBySignal: () => isFollowing,
  async run({ follow = false }, [name]) {
    if (!name || name === "-") throw new UsageError("The name of a file is required");
    path = realPath(name);
    const store = configuredStore();
    const isOfStore = (end: string) =>
      store.kind === "file" && resolve(store.path) + end === resolve(path);
    if (FILES_OF_SQLITE.some(isOfStore)) {
      throw new UsageError("FILE must not be the store (KV_PATH), nor a file that SQLite keeps");
    }
    isFollowing = follow;
    await withReader(appendNew);
  },
});

async function appendNew(instance: Instance): Promise<void> {
  const patientStore = retryingStore(instance.store);
  const { position, fault: headFault } = await readEndOfLog(patientStore);
  await using file = await openFile();
  // Only one process at a time can write the file.
  using lock = lockFile(path);
  if (lock === undefined) throw new Error(`Another process writes ${path}`);
  backup = await Backup.open(APPLICATION, file, patientStore, position);
  const { removedBytes, position: startedAt } = backup;
  if (removedBytes > 0) {
    say(`Removed an incomplete line of ${formatCounted(removedBytes, "byte")} from ${path}.`);
  }
  let fault = headFault ?? backup.damage;
  try {
    if (headFault === undefined) await appendBatches(instance, file, backup, position);
  } catch (error) {
    if (!isDamage(error)) throw error;
    fault = error;
  }
  if (fault !== undefined) {
    for await (const batch of continuingLines(APPLICATION, patientStore, backup)) {
      await backup.append(batch);
      if (stop.signal.aborted) break;
    }
  }
  if (isFollowing && fault === undefined) return;
  await printSynced(file, backup);
  if (stop.signal.aborted) return;
  const added = formatCounted(backup.position - startedAt, "new event");
  const news = backup.position === startedAt ? "Nothing is new" : `Appended ${added}`;
  say(`${news}: ${path} ends at position ${backup.position}.`);
  if (fault !== undefined) throw fault;
}

/** Appends the lines of a log that ends at a position. With --follow, also those that come later. */
async function appendBatches(
  instance: Instance,
  file: FileHandle,
  backup: Backup,
  position: number,
): Promise<void> {
  if (isFollowing) await printSynced(file, backup);
  const from = backup.position + 1;
  const batches = isFollowing
    ? followStore(instance, { from, signal: stop.signal })
    : readLog(retryingStore(instance.store), { from, to: position });
  for await (const batch of batches) {
    // Otherwise the next run would refuse a file that was truncated and then continued.
    await expectInPlace(file, backup.length);
    await backup.append(batch);
    if (isFollowing) {
      // Sync once for all events that were there at the last look at the log.
      const isAtEnd = backup.position >= instance.heads.latest!.head.position;
      if (isAtEnd || stop.signal.aborted) await printSynced(file, backup);
    } else showBackingUp(backup.position, position);
    if (stop.signal.aborted) break;
  }
}

/** The last position of the log; infinity, and the fault, if the head cannot be used. */
async function readEndOfLog(store: Store): Promise<{ position: number; fault?: Error }> {
  try {
    await acceptLog(APPLICATION, store);
    return { position: (await readHead(APPLICATION, store)).head.position };
  } catch (error) {
    if (isDamage(error)) return { position: Infinity, fault: error };
    if (!(error instanceof StoreRefusedError)) throw error;
    return {
      position: Infinity,
      fault: new RefusedError(`The store is refused: ${error.message}`),
    };
  }
}

async function openFile(): Promise<FileHandle> {
  // The log has the labels of the keys and who added what, so others need not read it.
  // Appended bytes never leave a gap, even if another program truncates the file.
  const file = await open(path, "a+", 0o600);
  const found = await file.stat();
  if (!found.isFile()) throw new Error(`${path} is not a regular file`);
  return file;
}

async function printSynced(file: FileHandle, backup: Backup): Promise<void> {
  await backup.sync();
  await expectInPlace(file, backup.length);
  // A terminal is for people, who need neither all positions nor hashes.
  if (isFollowing && isatty(1)) showBackedUp(backup.position);
  else await print(JSON.stringify({ position: backup.position, hash: backup.hash }));
}

/** Throws unless the open file still has its name, and the length that was written. */
async function expectInPlace(file: FileHandle, length: number): Promise<void> {
  const { dev, ino, nlink, size } = await file.stat();
  const named = await stat(path).catch(() => undefined);
  if (named?.dev === dev && named.ino === ino && nlink !== 0 && size === length) return;
  const change = `${path} was removed, replaced or changed by another program`;
  throw new RefusedError(`${change}: it may lack printed positions. Run the same command again`);
}
