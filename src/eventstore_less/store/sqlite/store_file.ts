/** The file of a store: a SQLite database with the tables of Deno KV. */

import type { Stats } from "node:fs";
import { mkdir, open, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import process, { pid } from "node:process";
import type { Logger } from "../../runtime/logger.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { makeFolderCommand } from "../../runtime/file_remedy.ts";
import { shellWord } from "../../runtime/shell_word.ts";
import { timeInName, words } from "../../words.ts";
import { noStoreReason, type StoreError, StoreRefusedError } from "../store_errors.ts";
import type { FileLocation, StoreLocation } from "../store_location.ts";
import { SqliteReader } from "./sqlite_reader.ts";

/**
 * Makes sure that a file can be opened as a store. Creates only the folder of the default path: any other missing one
 * is usually a mistyped path. Rejects with {@linkcode StoreRefusedError}, or the system's error.
 */
export async function prepareFile(location: FileLocation, create: boolean): Promise<void> {
  const { path, isDefault } = location;
  const file = await statOf(path);
  if (file === undefined) {
    if (!create) throw new StoreRefusedError(noStoreReason("there is no such file"));
    await expectFolder(location);
    if (isDefault) await mkdir(dirname(path), { recursive: true });
    // Only for its owner: SQLite would let all users read it. The files next to it get its mode.
    const created = await open(path, "a", 0o600);
    await created.close();
    return;
  }
  if (file.isDirectory()) throw new StoreRefusedError("it is a folder");
  if (file.nlink > 1) throw new StoreRefusedError(severalNamesReason(path, file.nlink));
  if (file.size === 0 && !create) throw new StoreRefusedError(noStoreReason("it is empty"));
  if (file.size === 0) return;
  // Read-only: to open a database without tables as a store adds them.
  using reader = new SqliteReader(path);
  const tables = reader.query("select name from sqlite_master where type = 'table'");
  const isOurs = tables.some(({ name }) => name === "kv" || name === "data_version");
  if (tables.length === 0 || isOurs) return;
  throw new StoreRefusedError("it is a database of another program");
}

/** SQLite finds the log of a file by the name of the file, so each name would have its own log, and damage the file. */
function severalNamesReason(path: string, count: number): string {
  return `its file has ${count} names (hard links), but its log lies beside only one of them; keep the name with ` +
    "a file NAME-wal beside it, or any one if none has it, and remove the others: " +
    `find / -xdev -samefile ${shellWord(path)} lists them`;
}

/** Rejects with {@linkcode StoreRefusedError} if the folder of a file does not exist. */
export async function expectFolder({ path, isDefault }: FileLocation): Promise<void> {
  if (isDefault || await statOf(dirname(path)) !== undefined) return;
  const make = makeFolderCommand(dirname(path));
  throw new StoreRefusedError(
    `its folder does not exist; correct the path, or make the folder as root: ${make}`,
  );
}

/** Whether opening the store would create its file. A path under which nothing can exist is an error of the opening. */
export async function isMissingFile(location: StoreLocation): Promise<boolean> {
  return location.kind === "file" && await statOf(location.path).catch(() => null) === undefined;
}

/** Resolves to `undefined` if the file does not exist. */
export function statOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error) => error.code === "ENOENT" ? undefined : Promise.reject(error));
}

const WATCH_INTERVAL_MS = 1_000;

/**
 * Watches whether the path of an open store still leads to the files that SQLite has open: the database and its
 * write-ahead log. If not, what is stored vanishes with the process, and `onChange` is called with the fault; with
 * `undefined` when the files are back. Resolves to a function that ends the watch. A symbolic link that moves to another
 * file is only reported, because the store stays the same.
 */
export async function watchFile(
  { path, link }: Pick<FileLocation, "path" | "link">,
  runtime: Runtime,
  report: Logger,
  onChange: (fault: StoreError | undefined) => void,
): Promise<() => void> {
  const paths = [path, `${path}-wal`];
  const opened = await Promise.all(paths.map(statOf));
  if (opened[1] === undefined) {
    // A log that was never there cannot be lost.
    opened.pop();
    report("warn", "store_log_missing", {
      store: path,
      reason: `There is no ${paths[1]}, into which SQLite writes each commit first`,
      remedy:
        "Restart the service: otherwise, a crash may lose what it stores. If the line comes again, see " +
        "which program removes the file, or whether the file system is one of another machine",
    });
  }
  const lookAtLink = link === undefined ? async () => {} : linkWatch(link, path, report);
  let isLost = false;
  let isStopped = false;
  const look = async () => {
    const found = await Promise.all(paths.map(statOf));
    if (isStopped) return;
    const lost = opened.findIndex((file, index) => !isStillThere(file, found[index]));
    const wasLost = isLost;
    isLost = lost !== -1;
    if (!isLost) await lookAtLink();
    if (isLost === wasLost) return;
    if (!isLost) {
      report("info", "store_file_found", { store: path });
      onChange(undefined);
      return;
    }
    report("error", "store_file_lost", {
      store: path,
      reason: `${paths[lost]} was ${found[lost] === undefined ? "deleted or moved" : "replaced"}`,
      ...rescueOf(path, runtime.now(), opened),
    });
    const message = "The store's file was deleted, moved or replaced, so nothing was stored";
    onChange(new StoreRefusedError(message, { isLogged: true }));
  };
  let cancel = () => {};
  const watch = () => {
    if (isStopped) return;
    cancel = runtime.setTimer(WATCH_INTERVAL_MS, () => {
      // A file that cannot be looked at may still be there.
      look().catch(() => {}).then(watch);
    });
  };
  watch();
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Returns a function that looks at a link, and reports once where it leads if it has moved. */
function linkWatch(link: string, path: string, report: Logger): () => Promise<void> {
  let target = path;
  return async () => {
    const found = await realpath(link).catch(() => "nothing");
    const hasMoved = found !== target;
    target = found;
    if (!hasMoved || target === path) return;
    report("warn", "store_link_moved", {
      store: path,
      reason: `${link} now leads to ${target}`,
      remedy:
        "The service keeps its store, but commands follow the link: let it lead back, or restart the service",
    });
  };
}

/** Whether a path leads to the file that was opened there. */
function isStillThere(opened: Stats | undefined, found: Stats | undefined): boolean {
  return opened !== undefined && opened.dev === found?.dev && opened.ino === found.ino;
}

/** The path of the copy that the logged command makes. A store that is such a copy itself gets another time. */
function savedPath(path: string, now: number): string {
  return `${resolve(path).replace(/\.saved-[\d-]+$/, "")}.saved-${timeInName(now)}`;
}

/** What to do while a process still has lost files open. No command is given that would not copy all of them. */
function rescueOf(path: string, now: number, [database, log]: (Stats | undefined)[]) {
  if (database !== undefined && log !== undefined) {
    const saved = savedPath(path, now);
    return { remedy: lostRemedy(saved), saveCommand: saveCommand(saved, database, log) };
  }
  const remedy =
    "If the file was moved, move it back. Otherwise, before the service stops, copy its open files: " +
    `ls -l /proc/${pid}/fd shows them`;
  return { remedy };
}

function lostRemedy(copy: string): string {
  const saved = shellWord(copy);
  return "If the file was moved, move it back. Otherwise, before the service stops, paste saveCommand into a shell, as root or " +
    `as the user of the service. If the disk has no room, put another folder and a file in it in place of the last two ` +
    `words. If it succeeds, check the copy: ${words().auditOf(saved)}. If it is sound, ${
      words().serving(saved)
    }`;
}

/**
 * A command for Linux that copies both files as of one moment, by this process's descriptors, which Deno may not read
 * itself. It fails unless each copy has the bytes of the open file. An inode alone may also be that of another file, on
 * another device.
 *
 * JSON escapes none of its characters, so it can be pasted from a line of the log; hence it has no double quotes, and an
 * empty IFS in their place. Root runs it, too, because systemd may hide the descriptors even from the same user; the
 * copies then belong to the user of this process.
 */
function saveCommand(saved: string, database: Stats, log: Stats): string {
  const owner = ownerOf(database);
  const isOpen = ({ dev, ino }: Stats) => `$(found ${dev}:${ino})`;
  const script = [
    `IFS=; open=$(stat -L -c %d:%i:%n /proc/${pid}/fd/* 2>/dev/null); set -f`,
    "found() { echo $open | sed -n s/^$1://p | head -n 1; }",
    `save() { cp --remove-destination $1 $2 && cmp $1 $2 && chown ${owner.join(":")} $2; }`,
    // The folder may be deleted, too.
    `test -d $1 || install -d -o ${owner[0]} -g ${owner[1]} -m 700 $1 || exit`,
    `kill -STOP ${pid} || exit`,
    `save ${isOpen(database)} $2 && save ${isOpen(log)} $2-wal; saved=$?`,
    // Otherwise, a part of a copy could fill the disk.
    `kill -CONT ${pid}; test $saved = 0 || rm -f $2 $2-wal; exit $saved`,
  ].join("; ");
  return `sh -c '${script}' save ${shellWord(dirname(saved))} ${shellWord(saved)}`;
}

/** The user and the group of this process, or those of the file if they are not known. */
function ownerOf({ uid, gid }: Stats): [user: number, group: number] {
  try {
    return [process.getuid!(), process.getgid!()];
  } catch {
    return [uid, gid];
  }
}
