/** A file of passwords, in the format of ~/.pgpass (https://www.postgresql.org/docs/15/libpq-pgpass.html). */

import { readFile, stat } from "node:fs/promises";
import { StoreRefusedError } from "../store_errors.ts";
import type { DatabaseAddress, DatabaseHost } from "./database_url.ts";

/** A field before its colon. A backslash quotes the next character. The password may also contain colons. */
const FIELD = /((?:\\.|[^:\\])*):/.source;
const LINE_PATTERN = new RegExp(`^(?!#)${FIELD.repeat(4)}(.*)$`);

/** Permissions of the group and of others. */
const SHARED_BITS = 0o077;

/**
 * Reads the password for a host from a file; `undefined` if no line of it matches. Rejects with
 * {@linkcode StoreRefusedError} if the file cannot be read, or if other users can read it.
 */
export async function readPassfile(
  path: string,
  { hostname, port }: DatabaseHost,
  { database, user }: Pick<DatabaseAddress, "database" | "user">,
): Promise<string | undefined> {
  let text: string;
  let mode: number;
  try {
    ({ mode } = await stat(path));
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new StoreRefusedError("the password file (PGPASSFILE) cannot be read", { cause });
  }
  if ((mode & SHARED_BITS) !== 0) {
    throw new StoreRefusedError("other users can read the password file (PGPASSFILE); chmod 600");
  }
  const wanted = [hostname, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    const [, ...fields] = LINE_PATTERN.exec(line) ?? [];
    const [password, ...others] = fields.map((it) => it.replace(/\\(.)/g, "$1")).reverse();
    const isOurs = others.reverse().every((it, index) => it === "*" || it === wanted[index]);
    if (password !== undefined && isOurs) return password;
  }
}
