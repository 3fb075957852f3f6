/** The two sessions with one server: how they are set up, and whether they are sound. */

import { retry } from "../../runtime/retry.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { NotAppliedError, StoreAwayError, StoreRefusedError } from "../store_errors.ts";
import type { Connection } from "./connection.ts";
import type { DatabaseHost, PostgresSettings } from "./database_url.ts";
import type { Program } from "./program.ts";
import { closeUnlessOpened, openConnection } from "./open_connection.ts";

export interface Session {
  connection: Connection;
  /** The start of the server, which differs from that of each standby. */
  startedAt: string;
  /** The process of this session. */
  pid: string;
}

/** Time in which a session begins. */
const BEGIN_LIMIT_MS = 1_000;

/**
 * The first statement of a session. Until then, the role decides how long a statement may take, and which functions it
 * means. So another role could have created these functions (CVE-2018-1058).
 */
const BEGIN_SESSION = `
  set search_path to pg_catalog, pg_temp;
  set statement_timeout to 0;
  set default_transaction_read_only to off`;

/**
 * The settings of a session that the store depends on. They override the defaults of the role. A time limit of the server
 * would cancel a commit's wait for its standby, which then counts as successful. A wait for a lock may end, because it
 * precedes the commit. A commit is planned once, and by its indexes however small the tables are then, because to plan
 * it takes the server a tenth of its time (measured). Parallel workers would lose the order within a snapshot. Even a
 * sufficient `synchronous_commit` is set, because the default may change.
 */
const CONFIGURE = `
  select pg_catalog.set_config(name, '0', false) from pg_catalog.pg_settings where name in (
    'transaction_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout')
  union all select pg_catalog.set_config(name, setting, false) from (values
    ('array_nulls', 'on'),
    ('bytea_output', 'hex'),
    ('client_encoding', 'UTF8'),
    ('default_transaction_isolation', 'read committed'),
    ('jit', 'off'),
    ('lock_timeout', '1s'),
    ('plan_cache_mode', 'force_generic_plan'),
    ('enable_seqscan', 'off'),
    ('enable_bitmapscan', 'off'),
    ('max_parallel_workers_per_gather', '0'),
    ('synchronous_commit', case
      when pg_catalog.current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
      then 'on' else pg_catalog.current_setting('synchronous_commit') end)
  ) as needed (name, setting)`;

/**
 * Columns: whether the server is a standby; its start, which differs from that of each standby; the process of this
 * connection.
 */
const DESCRIBE = `
  select pg_catalog.pg_is_in_recovery(), extract(epoch from pg_catalog.pg_postmaster_start_time()),
    pg_catalog.pg_backend_pid()`;

/** Statements of each connection that show whether a pooler keeps its process, even if others use the pooler too. */
const POOLER_TRIALS = 20;

const POOLED = "PgBouncer, or another pooler, gives each transaction another session; " +
  "set pool_mode = session, or connect to the server itself";

/** Opens two sessions with a server that is no standby. If this fails, none is open. */
export async function openSessions(
  host: DatabaseHost,
  settings: PostgresSettings & Program,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<[Session, Session]> {
  const open = () => openSession(host, settings, runtime, signal);
  const one = await open();
  return await closeUnlessOpened(signal, () => one.connection.close(), async () => {
    const other = await open();
    return await closeUnlessOpened(signal, () => other.connection.close(), async () => {
      if (one.startedAt !== other.startedAt) {
        throw new StoreAwayError("its address leads to different servers");
      }
      await expectNoPooler(one, other);
      return [one, other];
    });
  });
}

async function openSession(
  host: DatabaseHost,
  settings: PostgresSettings & Program,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Session> {
  const connection = await openConnection(settings, host, signal);
  return await closeUnlessOpened(signal, () => connection.close(), async () => {
    // Repeated, because the default time limit of the role may cancel it.
    const isCancelled = (error: unknown) => error instanceof NotAppliedError;
    await retry(() => connection.read(BEGIN_SESSION), runtime, BEGIN_LIMIT_MS, isCancelled);
    await connection.read(CONFIGURE);
    const [[isStandby, startedAt, pid]] = await connection.read(DESCRIBE);
    if (isStandby === "t") throw new StoreAwayError("it is a standby");
    return { connection, startedAt: startedAt!, pid: pid! };
  });
}

/** Rejects with `StoreRefusedError` if a pooler gives the statements of a session to different processes. */
async function expectNoPooler(one: Session, other: Session): Promise<void> {
  const sessions = [one, other];
  const isAnnounced = sessions.every(({ connection, pid }) =>
    connection.announcedPid === Number(pid)
  );
  if (isAnnounced) return;
  for (let trial = 0; trial < POOLER_TRIALS; trial++) {
    for (const { connection, pid } of sessions) {
      const [[, , found]] = await connection.read(DESCRIBE);
      if (found !== pid || one.pid === other.pid) throw new StoreRefusedError(POOLED);
    }
  }
}
