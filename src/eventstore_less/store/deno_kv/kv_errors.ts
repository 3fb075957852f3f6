/**
 * The meaning of the errors of Deno KV and of its client from npm, which have no types of their own. About a file, Deno
 * KV says what SQLite says.
 */

import { withCommitErrors, withReadErrors } from "../sqlite/sqlite_errors.ts";
import { StoreDamagedError, StoreError, StoreRefusedError } from "../store_errors.ts";

/** The messages with which a call is refused before it is sent. */
const REFUSALS =
  /^(Key|Value|Total mutation size|Total key size) too large |^Too many (mutations|checks|entries) |^([Kk]ey cannot be empty$|Invalid check$|Start key |End key )/;

/** The messages about a key or a value that cannot be decoded. */
const UNDECODABLE =
  /^(could not deserialize value|Invalid column type |(invalid tag|invalid utf8|unexpected end of file)$)/;

/** Makes a commit, to the file at a path if it is one, and types its error. */
export function withKvCommitErrors<T>(commit: () => Promise<T>, path?: string): Promise<T> {
  return withCommitErrors(() => commit().catch((error) => Promise.reject(typed(error))), path);
}

/** Makes a read, and types its error, which speaks of no write. */
export function withKvReadErrors<T>(read: () => Promise<T>): Promise<T> {
  return withReadErrors(() => read().catch((error) => Promise.reject(typed(error))));
}

function typed(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  const { message } = error as Error;
  if (REFUSALS.test(message)) return new StoreRefusedError(message);
  if (UNDECODABLE.test(message)) return new StoreDamagedError(message);
  return error;
}
