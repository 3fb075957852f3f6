import { LogDamagedError } from "eventstore-less";
import { HeadLostError } from "eventstore-less/parts";
import { StoreDamagedError } from "eventstore-less/store";
import {
  backup,
  type BackupProgress,
  type BackupReport,
  IncompleteBackupError,
  realPath,
  ToolError,
} from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { resolve } from "node:path";
import { isatty } from "node:tty";
import { commandName } from "../../src/runtime/words.ts";
import { adviceOnError } from "../cli/advice_on_error.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { formatCounted } from "../cli/format.ts";
import { sayReachable } from "../cli/log_source.ts";
import { progressOf } from "../cli/progress.ts";
import { UsageError } from "../cli/table_entry.ts";
import { operatorCommand, print, say } from "../cli/run_command.ts";

/** Ends of the names of the files that SQLite keeps for a store. */
const FILES_OF_SQLITE = ["", "-wal", "-shm", "-journal"];

const showBackingUp = progressOf("Backing up", "events");
const showBackedUp = progressOf("Backed up", "events");

const stop = new AbortController();
let path = "";
let isFollowing = false;
/** Position at which the file ends; `undefined` until it is open. */
let end: number | undefined;

interface Flags {
  after?: string;
  follow?: boolean;
}

export const command = operatorCommand<Flags>({
  refusals: [LogDamagedError, StoreDamagedError, HeadLostError],
  stop,
  interrupt() {
    const how = isFollowing ? "Stopped" : "Interrupted";
    const state = end === undefined ? "Nothing was written" : `${path} ends at position ${end}`;
    return `${how}. ${state}. Run the same command again to continue.`;
  },
  endsBySignal: () => isFollowing,
  adviceOn: (error) => isInUse(error) ? adviceOnUse() : adviceOnError(error, path),
  fileName: () => path,
  async run({ after, follow = false }, [name]) {
    if (!name || name === "-") throw new UsageError("The name of a file is required");
    path = realPath(name);
    const location = configuredStore();
    const isOfStore = (end: string) =>
      location.kind === "file" && resolve(location.path) + end === resolve(path);
    if (FILES_OF_SQLITE.some(isOfStore)) {
      throw new UsageError("EXPORT must not be the store (KV_PATH), nor a file that SQLite keeps");
    }
    isFollowing = follow;
    try {
      const report = await backup({ application: APPLICATION, location }, path, {
        after,
        follow,
        signal: stop.signal,
        onProgress,
        onReachable: sayReachable,
      });
      if (!stop.signal.aborted) sayEnd(report);
    } catch (error) {
      if (!(error instanceof IncompleteBackupError)) throw error;
      sayEnd(error.report);
      throw error.cause;
    }
  },
});

function isInUse(error: unknown): boolean {
  return error instanceof ToolError && error.code === "file_in_use";
}

function adviceOnUse(): string {
  return `. If that is ${
    commandName("backup --follow")
  }, the file is up to date: continue with the next step. ` +
    "Otherwise, run the same command again when that process has ended";
}

async function onProgress(progress: BackupProgress): Promise<void> {
  end = progress.position;
  if (progress.phase === "open") {
    const { removedBytes } = progress;
    if (removedBytes === 0) return;
    say(`Removed an incomplete line of ${formatCounted(removedBytes, "byte")} from ${path}.`);
  } else if (progress.phase === "append") {
    if (!isFollowing) showBackingUp(progress.position, progress.total);
  } else if (isFollowing && isatty(1)) {
    // A terminal is for people, who need neither all positions nor hashes.
    showBackedUp(progress.position);
  } else {
    const { position, hash } = progress;
    await print(JSON.stringify({ position, hash }));
  }
}

function sayEnd({ start, position, added }: BackupReport): void {
  const news = added === 0 ? "Nothing is new" : `Appended ${formatCounted(added, "new event")}`;
  // Alone, such a file cannot be restored.
  const isPart = start === 1 ? "" : `, which begins at position ${start},`;
  say(`${news}: ${path}${isPart} ends at position ${position}.`);
}
