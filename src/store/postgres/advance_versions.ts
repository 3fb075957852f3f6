import { StoreRefusedError } from "../store_errors.ts";
import type { Connection } from "./connection.ts";
import { encodeArray } from "./statements.ts";

/** Maximum number of versions that {@linkcode advanceVersions} skips. This takes a second (measured). */
const SKIP_LIMIT = 1_000_000;

/**
 * Skips the versions that the sequence is behind the records with the given keys. This needs no right beyond those
 * of a commit. And unlike `setval`, it cannot set the sequence back behind another instance. Columns: the largest
 * version of the records, and the number of versions.
 */
const SKIP = {
  text: `
    with gap as materialized (
      select pg_catalog.max(version) as largest,
        pg_catalog.max(version) - pg_catalog.nextval('animal_store.versions') as behind
      from animal_store.records where key = any($1::pg_catalog.bytea[])
    )
    select largest, behind, (
      select pg_catalog.count(pg_catalog.nextval('animal_store.versions'))
      from pg_catalog.generate_series(1, behind) where behind <= ${SKIP_LIMIT})
    from gap`,
};

/**
 * Makes sure that the next version is larger than those of the records with these keys. It may not be if the
 * database came from a dump without the value of the sequence, or from logical replication. Rejects with
 * `StoreRefusedError` if the sequence is too far behind.
 */
export async function advanceVersions(connection: Connection, keys: Uint8Array[]): Promise<void> {
  const [[largest, behind]] = await connection.write(SKIP, [encodeArray(keys)]);
  if (Number(behind) <= SKIP_LIMIT) return;
  throw new StoreRefusedError(
    `its sequence animal_store.versions is ${behind} versions behind its records, perhaps because it was ` +
      `restored or replicated without it: as the owner of the sequence, run ` +
      `select pg_catalog.setval('animal_store.versions', ${largest})`,
  );
}
