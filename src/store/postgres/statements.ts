/** The statements of a store on PostgreSQL. Each is a transaction of its own, at READ COMMITTED. */

/** Parameter: the keys. Columns: version, value, key. */
export const GET_MANY = `
  select version, value, key from animal_store.records
  where key = any($1::pg_catalog.bytea[]) and value is not null`;

/**
 * Reads a record, and commits one that changes nothing. So the answer was still true at a time when this server was the
 * primary. Parameter: the key. Columns: version, null if the record is missing; value.
 */
export const PROVE_AND_GET = `
  with proof as materialized (select pg_catalog.pg_logical_emit_message(true, 'animal_store', ''))
  select version, value
  from proof left join animal_store.records on key = $1 and value is not null`;

/** Parameters: the first key, the end (exclusive) and the limit. Columns: version, value, key. */
const list = (order: "asc" | "desc") => `
  select version, value, key from animal_store.records
  where key >= $1 and key < $2 and value is not null order by key ${order} limit $3`;

export const LIST = list("asc");
export const LIST_REVERSE = list("desc");

/** Adds placeholders for missing records, which a commit can lock. Parameter: their keys. */
export const RESERVE = `
  insert into animal_store.records (key, version)
  select key, 0 from pg_catalog.unnest($1::pg_catalog.bytea[]) as missing (key)
  on conflict (key) do nothing`;

/**
 * Commits if every check passes. It first locks the checked records, so that no other commit can change them. The
 * version is taken under that lock, so versions grow in the order of the commits. No lock outlives the statement.
 * If the sequence of versions fell behind the checked records, it writes nothing: a version that was used before
 * could make a later check pass that must fail.
 *
 * Parameters: checked keys, their versions; deleted keys; keys and values of the records to write.
 * Columns: the new version, and whether it exceeds those of the checked records. No rows if a check failed.
 */
export const COMMIT = `
  with checked as materialized (
    select key, version from animal_store.records where key = any($1::pg_catalog.bytea[])
    order by key for update
  ), passed as materialized (
    select pg_catalog.nextval('animal_store.versions') as version,
      (select coalesce(pg_catalog.max(version), 0) from checked) as used
    where pg_catalog.cardinality($1::pg_catalog.bytea[]) = (
      select pg_catalog.count(*)
      from rows from (pg_catalog.unnest($1::pg_catalog.bytea[]), pg_catalog.unnest($2::bigint[]))
        as expected (key, version)
      join checked using (key, version))
  ), deleted as (
    delete from animal_store.records using passed
    where passed.version > used and key = any($3::pg_catalog.bytea[])
  ), written as (
    insert into animal_store.records (key, version, value)
    select key, passed.version, value
    from passed, rows from (
      pg_catalog.unnest($4::pg_catalog.bytea[]), pg_catalog.unnest($5::pg_catalog.bytea[])
    ) as mutation (key, value)
    where passed.version > used
    on conflict (key) do update set version = excluded.version, value = excluded.value
  )
  select version, version > used from passed`;

/** Maximum number of versions that {@linkcode SKIP} skips. This takes a second (measured). */
export const SKIP_LIMIT = 1_000_000;

/**
 * Skips the versions that the sequence is behind the records with the given keys. It needs no right beyond those of a
 * commit and, unlike `setval`, cannot set the sequence back. Columns: the largest version of the records, and how many
 * versions the sequence was behind it.
 */
export const SKIP = `
  with gap as materialized (
    select pg_catalog.max(version) as largest,
      pg_catalog.max(version) - pg_catalog.nextval('animal_store.versions') as behind
    from animal_store.records where key = any($1::pg_catalog.bytea[])
  )
  select largest, behind, (
    select pg_catalog.count(pg_catalog.nextval('animal_store.versions'))
    from pg_catalog.generate_series(1, behind) where behind <= ${SKIP_LIMIT})
  from gap`;

const BYTEA_OID = 17;

/** Dimensions, flags, type, length and lower bound; then the length of each element before its bytes. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

/**
 * Encodes a `bytea[]` in PostgreSQL's binary format, which pg sends as it is. As text, it would have twice the size
 * (https://github.com/postgres/postgres, src/backend/utils/adt/arrayfuncs.c, array_recv).
 */
export function encodeArray(elements: Uint8Array[]): Uint8Array {
  let size = HEADER_BYTES;
  for (const { length } of elements) size += LENGTH_BYTES + length;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  [1, 0, BYTEA_OID, elements.length, 1].forEach((field, at) => view.setInt32(4 * at, field));
  let offset = HEADER_BYTES;
  for (const element of elements) {
    view.setInt32(offset, element.length);
    bytes.set(element, offset + LENGTH_BYTES);
    offset += LENGTH_BYTES + element.length;
  }
  return bytes;
}
