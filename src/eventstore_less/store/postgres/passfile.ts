/** A file of passwords, in the format of ~/.pgpass (https://www.postgresql.org/docs/15/libpq-pgpass.html). */

import { readFile, stat } from "node:fs/promises";
import { words } from "../../words.ts";
import { StoreRefusedError } from "../store_errors.ts";
import type { DatabaseAddress, DatabaseHost } from "./database_url.ts";

/** A field before its colon. A backslash quotes the next character. The password may also contain colons. */
const FIELD = /((?:\\.|[^:\\])*):/.source;
const LINE_PATTERN = new RegExp(`^(?!#)${FIELD.repeat(4)}(.*)$`);

/** The password for a host. Rejects with {@linkcode StoreRefusedError} if no line has one, or the file cannot be used. */
export async function readPassfile(
  path: string,
  { hostname, port }: DatabaseHost,
  { database, user }: Pick<DatabaseAddress, "database" | "user">,
): Promise<string> {
  const reading = Promise.all([stat(path), readFile(path, "utf8")]);
  const [{ mode }, text] = await reading.catch((cause) => {
    throw new StoreRefusedError(
      `the password file (${words().passfile}) cannot be read; let the user of this program own it`,
      { cause },
    );
  });
  if ((mode & 0o077) !== 0) {
    const file = `the password file (${words().passfile})`;
    throw new StoreRefusedError(`other users can read ${file}; chmod 600`);
  }
  const wanted = [hostname, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    const [, ...quoted] = LINE_PATTERN.exec(line) ?? [];
    const fields = quoted.map((it) => it.replace(/\\(.)/g, "$1"));
    const password = fields.pop();
    const isOurs = fields.every((it, index) => it === "*" || it === wanted[index]);
    if (password && isOurs) return password;
  }
  throw new StoreRefusedError(
    `it asks for a password, but no line of the password file (${words().passfile}) matches; ` +
      `add ${wanted.join(":")}:PASSWORD, or * in the place of a field`,
  );
}
