/** Finds the primary among the hosts of a database, and connects to it. */

import { SQL_NAME } from "../../names.ts";
import { reasonOf } from "../../../runtime/logger.ts";
import { retry } from "../../../runtime/retry.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { NotAppliedError, StoreAwayError, StoreRefusedError } from "../store_errors.ts";
import { closeUnlessOpened, Connection } from "./connection.ts";
import { type DatabaseHost, hostName, type PostgresSettings } from "./database_url.ts";

/** Two connections to the primary. A long read must not delay a commit, nor a commit a read. */
export type PrimaryConnections = { reads: Connection; commits: Connection };

/** Time in which a primary and its synchronous standby must prove themselves. */
const PROOF_LIMIT_MS = 1_000;

/** Time in which a server must cancel a proof that is late. */
const CANCEL_LIMIT_MS = 1_000;

/**
 * The first statement of a session. Until then, the role decides which functions a statement means, so another role
 * could have created them (CVE-2018-1058), and how long a statement may take.
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

/** Columns: whether it is a standby; its start, which tells it even from its standbys; the process of this connection. */
const DESCRIBE = `
  select pg_catalog.pg_is_in_recovery(), extract(epoch from pg_catalog.pg_postmaster_start_time()),
    pg_catalog.pg_backend_pid()`;

/**
 * Commits a record that changes nothing. Only the primary can, and only while its synchronous standby answers: it fails
 * on a standby, and on a primary that was replaced, unless another synchronous standby still follows that one.
 */
const PROVE = `select pg_catalog.pg_logical_emit_message(true, '${SQL_NAME}', '')`;

/** Statements of each connection that show whether a pooler keeps its process, even if others use the pooler too. */
const POOLER_TRIALS = 20;

const POOLED = "PgBouncer, or another pooler, gives each transaction another session; " +
  "set pool_mode = session, or connect to the server itself";

/**
 * Connects to the first host that proves to be the primary. Asks all at once, because one that hangs must not delay the
 * others. Rejects with `StoreRefusedError` if waiting does not help, and otherwise with `StoreAwayError`.
 */
export async function connectToPrimary(
  settings: PostgresSettings,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<PrimaryConnections> {
  const found = new AbortController();
  const attempts = settings.hosts.map(async (host) => {
    const either = AbortSignal.any([signal, found.signal]);
    try {
      return await connectTo(host, settings, runtime, either);
    } catch (error) {
      const Kind = error instanceof StoreRefusedError ? StoreRefusedError : StoreAwayError;
      throw new Kind(`${hostName(host)}: ${reasonOf(error)}`);
    }
  });
  try {
    const primary = await Promise.any(attempts);
    found.abort(new Error("Another host is the primary"));
    // The other attempts are given up; one may have succeeded meanwhile.
    for (const attempt of attempts) {
      attempt.then((other) => {
        if (other !== primary) closeBoth(other);
      }, () => {});
    }
    return primary;
  } catch (error) {
    signal.throwIfAborted();
    const { errors } = error as AggregateError;
    // A standby that lags behind may refuse a role or a database that the primary knows.
    if (errors.every((it) => it instanceof StoreRefusedError)) throw errors[0];
    throw new StoreAwayError(`it does not answer: ${errors.map(reasonOf).join("; ")}`);
  }
}

export function closeBoth({ reads, commits }: PrimaryConnections): void {
  reads.close();
  commits.close();
}

async function connectTo(
  host: DatabaseHost,
  settings: PostgresSettings,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<PrimaryConnections> {
  const opened: Connection[] = [];
  const close = () => opened.forEach((connection) => connection.close());
  const pids: (string | null)[] = [];
  await closeUnlessOpened(signal, close, async () => {
    const starts = new Set<string | null>();
    while (opened.length < 2) {
      const connection = await Connection.open(settings, host, signal);
      opened.push(connection);
      // Repeated, because the default time limit of the role may cancel it.
      const isCancelled = (error: unknown) => error instanceof NotAppliedError;
      await retry(() => connection.read(BEGIN_SESSION), runtime, PROOF_LIMIT_MS, isCancelled);
      await connection.read(CONFIGURE);
      const [[isStandby, startedAt, pid]] = await connection.read(DESCRIBE);
      if (isStandby === "t") throw new StoreAwayError("it is a standby");
      starts.add(startedAt);
      pids.push(pid);
    }
    if (starts.size > 1) throw new StoreAwayError("its address leads to different servers");
    const isPooled = opened.some(({ announcedPid }, index) => announcedPid !== Number(pids[index]));
    for (let trial = 0; isPooled && trial < POOLER_TRIALS; trial++) {
      for (const [index, connection] of opened.entries()) {
        const [[, , pid]] = await connection.read(DESCRIBE);
        if (pid !== pids[index] || pids[0] === pids[1]) throw new StoreRefusedError(POOLED);
      }
    }
  });
  const [reads, commits] = opened;
  try {
    await prove({ reads, commits }, pids[1]!, runtime, signal);
  } catch (error) {
    close();
    throw error;
  }
  return { reads, commits };
}

/**
 * Rejects unless the server commits PROVE in time. A late PROVE is cancelled over `reads`, because its process would
 * outlive the connection. The connections are then never used: the cancel could still meet a real commit, which would
 * count as successful without its standby.
 */
async function prove(
  { reads, commits }: PrimaryConnections,
  commitsPid: string,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<void> {
  let isLate = false;
  let stopTimer = () => {};
  const giveUp = () => {
    isLate = true;
    reads.read("select pg_catalog.pg_cancel_backend($1)", [commitsPid]).catch(() => {});
    stopTimer();
    stopTimer = runtime.setTimer(CANCEL_LIMIT_MS, () => commits.close());
  };
  stopTimer = runtime.setTimer(PROOF_LIMIT_MS, giveUp);
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  try {
    await commits.read(PROVE);
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    stopTimer();
    signal.removeEventListener("abort", giveUp);
  }
  if (isLate) throw new StoreAwayError("its synchronous standby does not answer");
}
