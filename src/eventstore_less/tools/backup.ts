import { readHead } from "../log/head.ts";
import { acceptLog } from "../log/accept_store.ts";
import { HeadReader } from "../log/head_reader.ts";
import { readLog } from "../log/read_log.ts";
import { lockFile } from "../runtime/file_lock.ts";
import { realPath } from "../runtime/real_path.ts";
import type { Store } from "../store/store.ts";
import { StoreRefusedError } from "../store/store_errors.ts";
import type { Application } from "../application.ts";
import { type FileHandle, open, stat } from "node:fs/promises";
import { BackupFile, isDamage } from "./backup_file.ts";
import { followLog } from "./follow_log.ts";
import { openToRead, patientStore } from "./open_to_read.ts";
import { RefusedError } from "./refused_error.ts";
import { ToolError } from "./tool_error.ts";
import type { ToolOptions } from "./tool_options.ts";
import type { StoreAt, ToolStore } from "./tool_store.ts";
import { continuingLines } from "./verify/readable_log.ts";

/**
 * How far a backup is:
 *
 * - `open`: the file ends at this position. An incomplete line of so many bytes was removed from its end.
 * - `append`: the events up to this position are in the file, maybe not yet on disk. The total is unknown while it follows.
 * - `sync`: they are on disk, and the last line has this hash (SHA-256 in hex).
 */
export type BackupProgress =
  | { phase: "open"; position: number; removedBytes: number }
  | { phase: "append"; position: number; total?: number }
  | { phase: "sync"; position: number; hash: string };

/** How a backup is made. */
export interface BackupOptions extends Pick<ToolOptions, "signal"> {
  /** Called from time to time. The backup waits for it. */
  onProgress?(progress: BackupProgress): void | Promise<void>;
  /** Whether to append later events, too, until the signal is aborted. Then that is no error. */
  follow?: boolean;
  /** Called with `false` and the reason if the store cannot be reached while it is followed, and with `true` once it is back. */
  onReachable?(isReachable: boolean, reason?: string): void;
}

/** The end of a file that is on disk. With its position and hash, an audit checks that a log extends it. */
export interface BackupReport {
  /** Position of the last line. */
  position: number;
  /** SHA-256 (hex) of the last line. */
  hash: string;
  /** Number of events that were appended. */
  added: number;
}

/** The log is damaged. The file has every line that continues it and can be read; `cause` is the damage. */
export class IncompleteBackupError extends RefusedError {
  /** The end of the file, as it is now. */
  readonly report: BackupReport;

  /** `cause` is the damage of the log. */
  constructor(report: BackupReport, cause: Error) {
    const { position } = report;
    super("log_damaged", `The log is damaged, and the backup ends at position ${position}`, {
      cause,
    });
    this.report = report;
  }
}

interface Run extends Required<Pick<BackupOptions, "follow" | "onProgress" | "onReachable">> {
  reader: Awaited<ReturnType<typeof openToRead>>;
  /** The store, with retries of reads. */
  store: Store;
  path: string;
  file: FileHandle;
  backup: BackupFile;
  signal?: AbortSignal;
}

/**
 * Appends the new events of a log to a file, which must be new, empty, or an export of this log. Only one process at a time
 * can write it. The file is created so that only its owner can read it. An aborted backup leaves whole lines; the next one
 * continues.
 *
 * Rejects with `IncompleteBackupError` if the log is damaged, with `RefusedError` if the file is not of this log
 * (`not_an_export`, `other_log`, `converted`) or was changed meanwhile (`file_changed`), and with `ToolError` if another
 * process writes it (`file_in_use`) or the disk is full (`write_failed`).
 */
export async function backup(
  log: ToolStore | StoreAt,
  name: string,
  options: BackupOptions = {},
): Promise<BackupReport> {
  const { follow = false, signal, onProgress = () => {}, onReachable = () => {} } = options;
  signal?.throwIfAborted();
  const path = realPath(name);
  using reader = await openToRead(log);
  const { application } = reader;
  const store = patientStore(reader);
  const { position: end, fault: headFault } = await readEndOfLog(application, store);
  await using file = await openFile(path);
  // Only one process at a time can write the file.
  using lock = lockFile(path);
  if (lock === undefined) throw new ToolError("file_in_use", `Another process writes ${path}`);
  const backup = await BackupFile.open(application, file, store, end);
  const { position: startedAt, removedBytes, damage } = backup;
  await onProgress({ phase: "open", position: startedAt, removedBytes });
  const run = { reader, store, path, file, backup, follow, signal, onProgress, onReachable };
  const fault = headFault ?? await appendUntilFault(run, end) ?? damage;
  if (fault !== undefined) await appendReadable(run);
  const isSynced = follow && fault === undefined;
  if (!isSynced) await sync(run);
  const { position, hash } = backup;
  const report = { position, hash, added: position - startedAt };
  if (signal?.aborted && follow) return report;
  signal?.throwIfAborted();
  if (fault !== undefined) throw new IncompleteBackupError(report, fault);
  return report;
}

/** Appends the lines of a log that ends at a position, and resolves to the damage that ends this, if there is one. */
async function appendUntilFault(run: Run, end: number): Promise<Error | undefined> {
  try {
    await appendLines(run, end);
  } catch (error) {
    if (isDamage(error)) return error;
    throw error;
  }
}

/** Appends the lines of a log that ends at a position. If it follows, also those that come later. */
async function appendLines(run: Run, end: number): Promise<void> {
  const { reader, store, path, file, backup, follow, signal, onProgress, onReachable } = run;
  const { application, runtime } = reader;
  if (follow) await sync(run);
  const from = backup.position + 1;
  const heads = new HeadReader(application, reader.store, runtime);
  const deps = { store: reader.store, heads, runtime, reachable: onReachable };
  const batches = follow
    ? followLog(deps, { from, signal: signal ?? new AbortController().signal })
    : readLog(store, { from, to: end });
  for await (const batch of batches) {
    // Otherwise the next run would refuse a file that was truncated and then continued.
    await expectInPlace(path, file, backup.length);
    await backup.append(batch);
    const { position } = backup;
    await onProgress({ phase: "append", position, total: follow ? undefined : end });
    // Sync once for all events that were there at the last look at the log.
    const isAtEnd = follow && position >= heads.latest!.head.position;
    if (isAtEnd || follow && signal?.aborted) await sync(run);
    if (signal?.aborted) return;
  }
}

/** Appends every line that can be read and continues the file. */
async function appendReadable({ reader, store, backup, signal, onProgress }: Run): Promise<void> {
  const { application, path } = reader;
  for await (const batch of continuingLines({ application, store, path }, backup)) {
    await backup.append(batch);
    await onProgress({ phase: "append", position: backup.position });
    if (signal?.aborted) return;
  }
}

/** The last position of the log; infinity, and the fault, if the head cannot be used. */
async function readEndOfLog(
  application: Application,
  store: Store,
): Promise<{ position: number; fault?: Error }> {
  try {
    await acceptLog(application, store);
    return { position: (await readHead(application, store)).head.position };
  } catch (error) {
    if (isDamage(error)) return { position: Infinity, fault: error };
    if (!(error instanceof StoreRefusedError)) throw error;
    const message = `The store is refused: ${error.message}`;
    return { position: Infinity, fault: new RefusedError("store_refused", message) };
  }
}

async function openFile(path: string): Promise<FileHandle> {
  // The log says who did what, so others need not read it.
  // Appended bytes never leave a gap, even if another program truncates the file.
  const file = await open(path, "a+", 0o600);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new ToolError("not_a_file", `${path} is not a regular file`);
}

async function sync({ path, file, backup, onProgress }: Run): Promise<void> {
  await backup.sync();
  await expectInPlace(path, file, backup.length);
  const { position, hash } = backup;
  await onProgress({ phase: "sync", position, hash });
}

/** Rejects unless the open file still has its name, and the length that was written. */
async function expectInPlace(path: string, file: FileHandle, length: number): Promise<void> {
  const { dev, ino, nlink, size } = await file.stat();
  const named = await stat(path).catch(() => undefined);
  if (named?.dev === dev && named.ino === ino && nlink !== 0 && size === length) return;
  throw new RefusedError(
    "file_changed",
    `${path} was removed, replaced or changed by another program`,
  );
}
