import { DatabaseSync } from "node:sqlite";
import { encodeKey } from "../../src/eventstore_less/store/key_encoding.ts";
import type { Key } from "../../src/eventstore_less/store/store.ts";

/** Sets when Deno KV removes a record of a file, in milliseconds since the Unix epoch, as a flipped bit can. */
export function setExpiry(kvPath: string, key: Key, expiresAt: number): void {
  const database = new DatabaseSync(kvPath);
  const update = database.prepare("update kv set expiration_ms = ? where k = ?");
  update.run(expiresAt, encodeKey(key));
  database.close();
}
