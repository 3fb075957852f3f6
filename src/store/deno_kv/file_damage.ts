import { StoreDamagedError } from "../store_errors.ts";

/** The messages of SQLite and Deno KV for a damaged file, or for a record that cannot be decoded. */
const DAMAGES =
  /^(database disk image is malformed|file is not a database|could not deserialize value|The value encoding |Invalid column type )/;

/** SQLite's primary result codes for a damaged file: SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE_CODES = [11, 26];

/** The damage of the store's file that an error of SQLite or Deno KV shows; `undefined` if it shows none. */
export function damageOf(error: unknown): StoreDamagedError | undefined {
  if (error instanceof StoreDamagedError) return error;
  const { errcode = 0, message } = error as Error & { errcode?: number };
  const isDamage = DAMAGE_CODES.includes(errcode & 0xff) || DAMAGES.test(message);
  return isDamage ? new StoreDamagedError(message) : undefined;
}
