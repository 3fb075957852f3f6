/** The statements of a store on PostgreSQL. Each is a transaction of its own, at READ COMMITTED. */

/** Maximum number of versions that `SKIP` skips. This takes a second (measured). */
export const SKIP_LIMIT = 1_000_000;

/** The statements on the tables in a schema. */
export type Statements = ReturnType<typeof statementsOf>;

export function statementsOf(schema: string) {
  /** The order lets the server find the row without a look at the rows that it replaced. */
  const NEWEST_HEAD = `select version, value from ${schema}.head order by version desc limit 1`;

  /** Columns: version; value, null if the head is missing. */
  const GET_HEAD = NEWEST_HEAD;

  /**
   * Reads the head, and commits a message that changes nothing. So the result was still true at a time when this server
   * was the primary. It has the columns of {@linkcode GET_HEAD}.
   */
  const PROVE_AND_GET_HEAD = `
    with proof as materialized (select pg_catalog.pg_logical_emit_message(true, '${schema}', ''))
    select version, value from proof cross join lateral (${NEWEST_HEAD}) as newest`;

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
    select version, value, key, 0 from ${schema}.records
    where key = any($1::pg_catalog.bytea[]) and value is not null
    union all
    select found.version, found.value, found.key, range
    from rows from (pg_catalog.unnest($3::pg_catalog.bytea[]), pg_catalog.unnest($4::pg_catalog.bytea[]))
      with ordinality as ranges (first, past, range)
    cross join lateral (
      (select version, value, key from ${schema}.records
        where key >= first and key < past and value is not null order by key ${order} limit $5)
      union all
      (select version, value, $2 from (${NEWEST_HEAD}) as newest
        where $2 >= first and $2 < past and value is not null)
      order by key ${order} limit $5
    ) as found`;

  const SNAPSHOT = snapshot(GET_HEAD, "asc");
  const SNAPSHOT_REVERSE = snapshot(GET_HEAD, "desc");
  const PROVE_AND_SNAPSHOT = snapshot(PROVE_AND_GET_HEAD, "asc");
  const PROVE_AND_SNAPSHOT_REVERSE = snapshot(PROVE_AND_GET_HEAD, "desc");

  /**
   * Commits if the guard has the expected version. `guard` is a statement that locks the guard only then, and returns the
   * new version.
   *
   * The new version is taken before the lock. But if another commit changes the guard meanwhile, it does not have the
   * expected version any more, and nothing is written. So the new version is larger than that of each commit before it on
   * this guard, unless the sequence of versions fell behind. Then, nothing is written either: a version that was used
   * before could make a later check pass that must fail.
   *
   * Parameters of all:
   * 1. the expected version of the guard; 0 if it must be missing
   * 3. the keys to delete
   * 4. the keys to write
   * 5. the value of each
   *
   * Columns: the new version, and whether it is larger than the expected one. No rows if the guard has changed.
   */
  const commit = (guard: string) => `
    with next as materialized (
      select pg_catalog.nextval('${schema}.versions') as version
    ), guard as (${guard}
    ), deleted as (
      delete from ${schema}.records using guard where key = any($3::pg_catalog.bytea[])
    ), written as (
      insert into ${schema}.records (key, version, value)
      select key, guard.version, mutation.value
      from guard, rows from (pg_catalog.unnest($4::pg_catalog.bytea[]), pg_catalog.unnest($5::pg_catalog.bytea[]))
        as mutation (key, value)
      on conflict (key) do update set version = excluded.version, value = excluded.value
    )
    select version, version > $1 from next where version <= $1 or exists (select from guard)`;

  /** The guard is the head. Its mutation is not among the others. Parameter 2: its new value; null to delete it. */
  const COMMIT_ON_HEAD = commit(`
      update ${schema}.head
      set version = case when $2::pg_catalog.bytea is null then 0 else next.version end, value = $2
      from next
      where ${schema}.head.version = $1::bigint and next.version > $1
      returning next.version`);

  /** The guard is another record. Its mutation is among the others. Parameter 2: its key. */
  const COMMIT_ON_RECORD = commit(`
      select next.version from next, ${schema}.records as record
      where key = $2::pg_catalog.bytea and record.version = $1::bigint and next.version > $1
      for update of record`);

  /**
   * The guard is another record, which must be missing. Its mutation is not among the others. Parameters: 2, its key;
   * 6, its value, or null to leave it missing.
   */
  const COMMIT_ON_NEW_RECORD = commit(`
      insert into ${schema}.records (key, version, value)
      select $2::pg_catalog.bytea, version, $6::pg_catalog.bytea from next where version > $1::bigint
      on conflict (key) do update set version = excluded.version, value = excluded.value
      where ${schema}.records.value is null
      returning ${schema}.records.version`);

  /**
   * Skips the versions that the sequence is behind the head and the records with the given keys. It needs no other right
   * than a commit and, unlike `setval`, cannot set the sequence back. Columns: the largest version of these, and how
   * many versions the sequence was behind it.
   */
  const SKIP = `
    with used as materialized (
      select greatest(
        (select pg_catalog.max(version) from ${schema}.records
          where key = any($1::pg_catalog.bytea[])),
        (select version from (${NEWEST_HEAD}) as newest)) as largest
    ), gap as materialized (
      select largest, largest - pg_catalog.nextval('${schema}.versions') as behind from used
    )
    select largest, behind, (
      select pg_catalog.count(pg_catalog.nextval('${schema}.versions'))
      from pg_catalog.generate_series(1, behind) where behind <= ${SKIP_LIMIT})
    from gap`;

  return {
    schema,
    GET_HEAD,
    PROVE_AND_GET_HEAD,
    SNAPSHOT,
    SNAPSHOT_REVERSE,
    PROVE_AND_SNAPSHOT,
    PROVE_AND_SNAPSHOT_REVERSE,
    COMMIT_ON_HEAD,
    COMMIT_ON_RECORD,
    COMMIT_ON_NEW_RECORD,
    SKIP,
  };
}

/** Each session has a `synchronous_commit` that waits, if the server names standbys. */
export const WAITS_FOR_STANDBY =
  "select pg_catalog.btrim(pg_catalog.current_setting('synchronous_standby_names')) <> ''";

/** The setting that names the synchronous standbys, and the names of those that are connected, which every role may read. */
export const STANDBYS = `
  select pg_catalog.current_setting('synchronous_standby_names'),
    (select pg_catalog.string_agg(application_name, ', ') from pg_catalog.pg_stat_replication)`;

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
