/** The errors of a store that mean what SQLite or Deno KV say about the file of the store. */

import { damageOf } from "./sqlite_reader.ts";
import type { StoreEntry } from "../store.ts";
import {
  isWriteFault,
  NotAppliedError,
  StoreDamagedError,
  StoreError,
  StoreFailingError,
  StoreFullError,
  StoreReadOnlyError,
  StoreRefusedError,
  UnclearOutcomeError,
  type WriteFaultError,
} from "../store_errors.ts";

/** The messages of the errors with which Deno KV and its client from npm refuse a call before they send it. */
const REFUSALS =
  /^(Key|Value|Total mutation size|Total key size) too large |^Too many (mutations|checks|entries) |^([Kk]ey cannot be empty$|Invalid check$|Start key |End key )/;

/** Makes a call. Deno KV's errors have no type of their own, so their messages decide. */
export async function withTypedErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const { message } = error as Error;
    if (message.includes("database is locked")) {
      throw new NotAppliedError("Another process keeps the store's file locked");
    }
    const writeFault = writeFaultOf(error);
    if (writeFault !== undefined) throw writeFault;
    const damage = damageOf(error);
    if (damage !== undefined) throw damage;
    if (REFUSALS.test(message)) throw new StoreRefusedError(message);
    throw new UnclearOutcomeError(message);
  }
}

/** The messages of SQLite and Deno KV if a file cannot be opened to write. */
const READ_ONLY =
  /^(attempt to write a readonly database|Can not write to a read-only database|unable to open database file)/;

/** Why the file of a store cannot be written, if an error of SQLite or Deno KV says so. */
export function writeFaultOf(error: unknown): WriteFaultError | undefined {
  if (isWriteFault(error)) return error;
  const { message } = error as Error;
  // SQLite could not write the whole commit to its write-ahead log, so no recovery will apply it.
  if (message === "database or disk is full") return new StoreFullError();
  if (READ_ONLY.test(message)) return new StoreReadOnlyError();
  // The commit may be in the write-ahead log although its sync failed.
  if (message === "disk I/O error") return new StoreFailingError();
}

/** Throws if the value is a `StoreDamagedError`: a reader returns one for a value that it could not decode. */
export function decoded<Entry extends StoreEntry | null>(entry: Entry): Entry {
  if (entry?.value instanceof StoreDamagedError) throw entry.value;
  return entry;
}
