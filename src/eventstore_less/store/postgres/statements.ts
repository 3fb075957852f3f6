/** The statements of a store on PostgreSQL. Each is a transaction of its own, at READ COMMITTED. */

import { SQL_NAME } from "../../names.ts";

/** Its order lets the server find the row without a look at those that it replaced. */
const NEWEST_HEAD = `select version, value from ${SQL_NAME}.head order by version desc limit 1`;

/** Columns: version; value, null if the head is missing. */
export const GET_HEAD = NEWEST_HEAD;

/**
 * Reads the head, and commits a message that changes nothing. So the answer was still true at a time when this server
 * was the primary. It has the columns of {@linkcode GET_HEAD}.
 */
export const PROVE_AND_GET_HEAD = `
  with proof as materialized (select pg_catalog.pg_logical_emit_message(true, '${SQL_NAME}', ''))
  select version, value from proof cross join lateral (${NEWEST_HEAD}) as newest`;

/** Parameters: the first key, the end (exclusive), the limit and the key of the head. Columns: version, value, key. */
const list = (order: "asc" | "desc") => `
  (select version, value, key from ${SQL_NAME}.records
    where key >= $1 and key < $2 and value is not null order by key ${order} limit $3)
  union all
  (select version, value, $4 from (${NEWEST_HEAD}) as newest
    where $4::pg_catalog.bytea >= $1 and $4 < $2 and value is not null)
  order by key ${order} limit $3`;

/**
 * Reads the head, other records and ranges, which may contain the head, all at one moment.
 *
 * Parameters:
 * 1. the keys of the other records
 * 2. the key of the head
 * 3. the first key of each range
 * 4. the end (exclusive) of each range
 * 5. the limit of each range
 *
 * Columns: version, value, key, and the number of the range from 1; 0 for the head and the other records. The head has
 * always a row; its value is null if it is missing.
 */
const snapshot = (readHead: string, order: "asc" | "desc") => `
  select version, value, $2::pg_catalog.bytea as key, 0 as range from (${readHead}) as head
  union all
  select version, value, key, 0 from ${SQL_NAME}.records
  where key = any($1::pg_catalog.bytea[]) and value is not null
  union all
  select found.version, found.value, found.key, range
  from rows from (pg_catalog.unnest($3::pg_catalog.bytea[]), pg_catalog.unnest($4::pg_catalog.bytea[]))
    with ordinality as ranges (first, past, range)
  cross join lateral (
    (select version, value, key from ${SQL_NAME}.records
      where key >= first and key < past and value is not null order by key ${order} limit $5)
    union all
    (select version, value, $2 from (${NEWEST_HEAD}) as newest
      where $2 >= first and $2 < past and value is not null)
    order by key ${order} limit $5
  ) as found`;

export const SNAPSHOT = snapshot(GET_HEAD, "asc");
export const SNAPSHOT_REVERSE = snapshot(GET_HEAD, "desc");
export const PROVE_AND_SNAPSHOT = snapshot(PROVE_AND_GET_HEAD, "asc");
export const PROVE_AND_SNAPSHOT_REVERSE = snapshot(PROVE_AND_GET_HEAD, "desc");

export const LIST = list("asc");
export const LIST_REVERSE = list("desc");

/** Adds placeholders for missing records, which a commit can lock. Parameter: their keys. */
export const RESERVE = `
  insert into ${SQL_NAME}.records (key, version)
  select key, 0 from pg_catalog.unnest($1::pg_catalog.bytea[]) as missing (key)
  on conflict (key) do nothing`;

/**
 * Commits if every check passes. Missing records must have a placeholder: send {@linkcode RESERVE} first.
 *
 * It first locks the checked records, so that no other commit can change them. The version is taken under that lock, so
 * versions grow in the order of the commits. No lock outlives the statement. If the sequence of versions fell behind the
 * checked records, it writes nothing: a version that was used before could make a later check pass that must fail.
 *
 * The head is found by its version, the expected one or the newest one. If another commit replaces it meanwhile, it is
 * not found, and nothing is written. `$6 <> all($1 || $3 || $4)` means that the commit does not touch the head.
 *
 * Parameters:
 * 1. the keys to check
 * 2. the expected version of each; 0 if the record must be missing
 * 3. the keys to delete
 * 4. the keys to write
 * 5. the value of each
 * 6. the key of the head
 *
 * Columns: the new version, and whether it is larger than each version of the checked records. No rows if a check failed.
 */
export const COMMIT = `
  with expected as materialized (
    select key, version
    from rows from (pg_catalog.unnest($1::pg_catalog.bytea[]), pg_catalog.unnest($2::bigint[]))
      as expected (key, version)
  ), mutation as materialized (
    select key, value
    from rows from (pg_catalog.unnest($4::pg_catalog.bytea[]), pg_catalog.unnest($5::pg_catalog.bytea[]))
      as mutation (key, value)
  ), locked_records as materialized (
    select key, version from ${SQL_NAME}.records where key = any($1) order by key for update
  ), locked_head as materialized (
    select version from ${SQL_NAME}.head
    where $6::pg_catalog.bytea = any($1 || $3::pg_catalog.bytea[] || $4) and version = coalesce(
      (select pg_catalog.max(version) from expected where key = $6),
      (select version from (${NEWEST_HEAD}) as newest))
    for update
  ), checked as materialized (
    select key, version from locked_records
    union all select $6, version from locked_head
  ), passed as materialized (
    select pg_catalog.nextval('${SQL_NAME}.versions') as version,
      (select coalesce(pg_catalog.max(version), 0) from checked) as used
    where pg_catalog.cardinality($1) = (
        select pg_catalog.count(*) from expected join checked using (key, version))
      and (exists (select from locked_head) or $6 <> all($1 || $3 || $4))
  ), accepted as not materialized (
    select version from passed where version > used
  ), deleted as (
    delete from ${SQL_NAME}.records using accepted where key = any($3)
  ), written as (
    insert into ${SQL_NAME}.records (key, version, value)
    select key, accepted.version, value from accepted, mutation where key <> $6
    on conflict (key) do update set version = excluded.version, value = excluded.value
  ), replaced as (
    update ${SQL_NAME}.head
    set version = case when new.value is null then 0 else accepted.version end, value = new.value
    from accepted, (
      select value from mutation where key = $6 union all select null where $6 = any($3)
    ) as new
    where ${SQL_NAME}.head.version = (select version from locked_head)
  )
  select version, version > used from passed`;

/**
 * Does what {@linkcode COMMIT} does if a commit checks only the head, and replaces it: half the work for the server
 * (measured), and almost every commit is such a one.
 *
 * The update locks the head. If another commit replaces the head meanwhile, it does not have the expected version any
 * more, and nothing is written. So the new version, which is taken before, is still larger than that of each commit
 * before, unless the sequence fell behind.
 *
 * Parameters:
 * 1. the expected version of the head
 * 2. the new value of the head
 * 3. the other keys to delete
 * 4. the other keys to write
 * 5. the value of each
 *
 * Columns: the new version, and whether it is larger than the expected one, else nothing is written. No rows if the check
 * failed.
 */
export const REPLACE_HEAD = `
  with next as materialized (
    select pg_catalog.nextval('${SQL_NAME}.versions') as version
  ), replaced as (
    update ${SQL_NAME}.head set version = next.version, value = $2
    from next
    where ${SQL_NAME}.head.version = $1::bigint and next.version > $1
    returning ${SQL_NAME}.head.version
  ), deleted as (
    delete from ${SQL_NAME}.records using replaced where key = any($3::pg_catalog.bytea[])
  ), written as (
    insert into ${SQL_NAME}.records (key, version, value)
    select key, replaced.version, mutation.value
    from replaced, rows from (pg_catalog.unnest($4::pg_catalog.bytea[]), pg_catalog.unnest($5::pg_catalog.bytea[]))
      as mutation (key, value)
    on conflict (key) do update set version = excluded.version, value = excluded.value
  )
  select version, version > $1 from next where version <= $1 or exists (select from replaced)`;

/** Maximum number of versions that {@linkcode SKIP} skips. This takes a second (measured). */
export const SKIP_LIMIT = 1_000_000;

/**
 * Skips the versions that the sequence is behind the head and the records with the given keys. It needs no other right
 * than a commit and, unlike `setval`, cannot set the sequence back. Columns: the largest version of these, and how
 * many versions the sequence was behind it.
 */
export const SKIP = `
  with used as materialized (
    select greatest(
      (select pg_catalog.max(version) from ${SQL_NAME}.records
        where key = any($1::pg_catalog.bytea[])),
      (select version from (${NEWEST_HEAD}) as newest)) as largest
  ), gap as materialized (
    select largest, largest - pg_catalog.nextval('${SQL_NAME}.versions') as behind from used
  )
  select largest, behind, (
    select pg_catalog.count(pg_catalog.nextval('${SQL_NAME}.versions'))
    from pg_catalog.generate_series(1, behind) where behind <= ${SKIP_LIMIT})
  from gap`;

/** Each session has a `synchronous_commit` that waits, if the server names standbys. */
export const WAITS_FOR_STANDBY =
  "select pg_catalog.btrim(pg_catalog.current_setting('synchronous_standby_names')) <> ''";

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
