/** A file of passwords, in the format of ~/.pgpass (https://www.postgresql.org/docs/15/libpq-pgpass.html). */

import { StoreRefusedError } from "../store_errors.ts";
import type { DatabaseAddress, DatabaseHost } from "./database_url.ts";

/**
 * host:port:database:user:password. A backslash quotes the next character; the password may contain colons.
 */
const LINE_PATTERN =
  /^((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):(.*)$/;

/** Permissions of the group and of others. */
const SHARED_BITS = 0o077;

/**
 * Reads the password for a host from a file; `undefined` if no line of it matches. Rejects with
 * {@linkcode StoreRefusedError} if the file cannot be read, or if other users can read it.
 */
export async function readPassfile(
  path: string,
  host: DatabaseHost,
  address: Pick<DatabaseAddress, "database" | "user">,
): Promise<string | undefined> {
  let text: string;
  try {
    const { mode } = await Deno.stat(path);
    if (((mode ?? 0) & SHARED_BITS) !== 0) {
      throw new StoreRefusedError("other users can read the password file (PGPASSFILE); chmod 600");
    }
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof StoreRefusedError) throw error;
    throw new StoreRefusedError("the password file (PGPASSFILE) cannot be read", { cause: error });
  }
  return findPassword(text, host, address);
}

/** Returns the password of the first line that matches. */
export function findPassword(
  passfile: string,
  { hostname, port }: DatabaseHost,
  { database, user }: Pick<DatabaseAddress, "database" | "user">,
): string | undefined {
  const wanted = [hostname, String(port), database, user];
  for (const line of passfile.split(/\r?\n/)) {
    const [, ...fields] = line.startsWith("#") ? [] : LINE_PATTERN.exec(line) ?? [];
    const password = fields.pop();
    const matches = fields.every((it, index) => it === "*" || unquote(it) === wanted[index]);
    if (password !== undefined && matches) return unquote(password);
  }
}

function unquote(field: string): string {
  return field.replace(/\\(.)/g, "$1");
}
