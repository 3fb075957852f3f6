import { StoreRefusedError } from "../store_errors.ts";
import { encodeArray } from "./array_parameter.ts";
import type { Connection } from "./connection.ts";

/** Maximum number of versions that {@linkcode advanceVersions} skips. This takes a second (measured). */
const SKIP_LIMIT = 1_000_000;

/** Parameter: keys. Columns: the largest version of their records, and how far the sequence is behind it. */
const COMPARE = {
  text: `
    select largest, largest - pg_catalog.nextval('animal_store.versions')
    from (select pg_catalog.max(version) as largest from animal_store.records
      where key = any($1::pg_catalog.bytea[])) as records
    where largest is not null`,
};

/**
 * Parameter: the number of versions to skip. This needs no right beyond those of a commit. And unlike `setval`, it
 * cannot set the sequence back behind another instance.
 */
const SKIP = {
  text: `
    select pg_catalog.count(pg_catalog.nextval('animal_store.versions'))
    from pg_catalog.generate_series(1, $1::bigint)`,
};

/**
 * Makes sure that the next version is larger than those of the records with these keys. It may not be if the
 * database came from a dump without the value of the sequence, or from logical replication. Rejects with
 * `StoreRefusedError` if the sequence is too far behind.
 */
export async function advanceVersions(connection: Connection, keys: Uint8Array[]): Promise<void> {
  const [row] = await connection.write(COMPARE, [encodeArray(keys)]);
  if (row === undefined) return;
  const [largest, behind] = row.map(Number);
  if (behind < 0) return;
  if (behind > SKIP_LIMIT) {
    throw new StoreRefusedError(
      `its sequence animal_store.versions is ${behind} versions behind its records, perhaps because it was ` +
        `restored or replicated without it: as the owner of the sequence, run ` +
        `select pg_catalog.setval('animal_store.versions', ${largest})`,
    );
  }
  await connection.write(SKIP, [behind]);
}
