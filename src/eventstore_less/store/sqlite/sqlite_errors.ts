/** The meaning of the errors of SQLite about the file of a store. A worker passes on their message and code. */

import { rm, writeFile } from "node:fs/promises";
import { fullRemedy, writeRemedy } from "../../runtime/file_remedy.ts";
import {
  isWriteFault,
  NotAppliedError,
  StoreDamagedError,
  StoreError,
  StoreFailingError,
  StoreFullError,
  StoreReadOnlyError,
  UnclearOutcomeError,
  type WriteFaultError,
} from "../store_errors.ts";

/** Makes a commit to the file at a path, and types its error. */
export async function withCommitErrors<T>(commit: () => Promise<T>, path?: string): Promise<T> {
  try {
    return await commit();
  } catch (error) {
    throw writeFaultOf(error, path) ?? errorOfRead(error);
  }
}

/** Makes a read, and types its error, which speaks of no write. */
export async function withReadErrors<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw errorOfRead(error);
  }
}

function errorOfRead(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { message } = error as Error;
  if (message.includes("database is locked")) {
    return new NotAppliedError("Another process keeps the store's file locked");
  }
  return damageOf(error) ?? new UnclearOutcomeError(message);
}

/** The messages of SQLite and Deno KV if a file cannot be opened to write. */
const READ_ONLY =
  /^(attempt to write a readonly database|unable to open database file|Can not write to a read-only database)/;

/** Why the file of a store at a path cannot be written, if an error of SQLite says so. */
export function writeFaultOf(error: unknown, path?: string): WriteFaultError | undefined {
  if (isWriteFault(error)) return error;
  if (isBeyondEnd(error)) return undefined;
  const { message } = error as Error;
  // SQLite could not write the whole commit to its write-ahead log, so no recovery will apply it.
  if (message === "database or disk is full") return fullError(path);
  if (READ_ONLY.test(message)) return readOnlyError(path);
  // The commit may be in the write-ahead log although its sync failed.
  if (message === "disk I/O error") return new StoreFailingError();
}

function fullError(path?: string): StoreFullError {
  return new StoreFullError(path === undefined ? undefined : fullRemedy(path));
}

function readOnlyError(path?: string): StoreReadOnlyError {
  return new StoreReadOnlyError(path === undefined ? undefined : writeRemedy(path));
}

/** The messages for a damaged file, for a lost table, and for a lost row of the counter of versions. */
const DAMAGES =
  /^(database disk image is malformed|file is not a database|malformed database schema|no such (table|column): |Query returned no rows$)/;

/** SQLite's primary result codes for a damaged file: SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE_CODES = [11, 26];

/** SQLite's extended result code SQLITE_IOERR_SHORT_READ, which it otherwise calls a failure of the disk. */
const SHORT_READ = 522;

/** Whether SQLite has found the end of the file before a page that the file must have. */
function isBeyondEnd(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === SHORT_READ;
}

/** The damage of the store's file that an error of SQLite shows; `undefined` if it shows none. */
export function damageOf(error: unknown): StoreDamagedError | undefined {
  if (error instanceof StoreDamagedError) return error;
  if (isBeyondEnd(error)) {
    return new StoreDamagedError("a page is beyond the end of the file, which was cut");
  }
  const { errcode = 0, message } = error as Error & { errcode?: number };
  const isDamage = DAMAGE_CODES.includes(errcode & 0xff) || DAMAGES.test(message);
  return isDamage ? new StoreDamagedError(message) : undefined;
}

/** Why a file cannot be opened. If its disk is full, SQLite cannot make the files next to it, and only says that it fails. */
export async function openingFaultOf(
  path: string,
  error: unknown,
): Promise<WriteFaultError | undefined> {
  const fault = writeFaultOf(error, path);
  if (!(fault instanceof StoreFailingError)) return fault;
  return await isDiskFull(path) ? fullError(path) : fault;
}

/** Bytes of the smallest file that SQLite makes next to a store. */
const SHARED_MEMORY_BYTES = 32 * 1024;

/** Tries to write a file next to that of a store, because a disk may have free space that this user may not use. */
async function isDiskFull(path: string): Promise<boolean> {
  const trial = `${path}-full`;
  try {
    await writeFile(trial, new Uint8Array(SHARED_MEMORY_BYTES), { mode: 0o600 });
    return false;
  } catch (error) {
    return FULL_CODES.includes((error as { code?: string }).code ?? "");
  } finally {
    await rm(trial, { force: true }).catch(() => {});
  }
}

/** The codes of the system if the disk has no free space, or this user may use no more of it. */
const FULL_CODES = ["ENOSPC", "EDQUOT"];
