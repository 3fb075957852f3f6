/** Finds the primary among the hosts of a database, and connects to it. */

import { reasonOf } from "../../runtime/logger.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { StoreAwayError, type StoreError, StoreRefusedError } from "../store_errors.ts";
import { Connection } from "./connection.ts";
import { type DatabaseHost, hostName, type PostgresSettings } from "./database_url.ts";

/** Two connections to the primary. A long read must not delay a commit, nor a commit a read. */
export interface PrimaryConnections {
  reads: Connection;
  commits: Connection;
  host: DatabaseHost;
}

/** Time in which a primary and its synchronous standby must prove themselves. */
const PROOF_LIMIT_MS = 1_000;

/**
 * The settings of a session that the store depends on, whatever the defaults of the role. A time limit of the
 * server would cancel a commit's wait for its standby, which then counts as successful. A wait for a lock may
 * end, because it precedes the commit. Even a `synchronous_commit` that suffices is set, because the default may
 * change later.
 */
const CONFIGURE = {
  text: `
    select set_config(name, '0', false) from pg_catalog.pg_settings where name in (
      'statement_timeout', 'transaction_timeout', 'idle_session_timeout',
      'idle_in_transaction_session_timeout')
    union all select set_config('lock_timeout', '1s', false)
    union all select set_config('default_transaction_isolation', 'read committed', false)
    union all select set_config('client_encoding', 'UTF8', false)
    union all select set_config('bytea_output', 'hex', false)
    union all select set_config('jit', 'off', false)
    union all select set_config('synchronous_commit',
      case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write') then 'on'
        else current_setting('synchronous_commit') end, false)`,
};

/** The start of a server tells it from others, even from its standbys. */
const DESCRIBE = {
  text: `
    select pg_is_in_recovery(), current_setting('transaction_read_only'),
      extract(epoch from pg_postmaster_start_time())`,
};

/**
 * Commits a record that changes nothing. Only the primary can, and only while its synchronous standby answers.
 * So this fails on a standby, and on a primary that was replaced, unless another synchronous standby still follows
 * that one.
 */
const PROVE = { text: "select pg_logical_emit_message(true, 'animal_store', '')" };

/**
 * Connects to the first host that proves to be the primary. Asks all hosts at once, because one that hangs must
 * not delay the others. Rejects with `StoreRefusedError` if waiting does not help, and otherwise with
 * `StoreAwayError`.
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
      throw new HostError(host, error as StoreError);
    }
  });
  try {
    const primary = await Promise.any(attempts);
    found.abort(new Error("Another host is the primary"));
    // The other attempts are given up; one may have succeeded meanwhile.
    for (const attempt of attempts) {
      attempt.then((other) => other !== primary && closeBoth(other), () => {});
    }
    return primary;
  } catch (error) {
    signal.throwIfAborted();
    throw errorOfAll((error as AggregateError).errors);
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
  const reads = await openProven(host, settings, runtime, signal);
  try {
    const commits = await openProven(host, settings, runtime, signal);
    const primary = { host, reads: reads.connection, commits: commits.connection };
    if (reads.startedAt === commits.startedAt) return primary;
    closeBoth(primary);
    throw new StoreAwayError("its address leads to different servers");
  } catch (error) {
    reads.connection.close();
    throw error;
  }
}

async function openProven(
  host: DatabaseHost,
  settings: PostgresSettings,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<{ connection: Connection; startedAt: string | null }> {
  const connection = await Connection.open(settings, host, signal);
  const giveUp = () => connection.cancelAndClose(runtime);
  signal.addEventListener("abort", giveUp);
  try {
    const [[isStandby, isReadOnly, startedAt]] = await connection.read(DESCRIBE);
    if (isStandby === "t") throw new StoreAwayError("it is a standby");
    if (isReadOnly === "on") throw new StoreAwayError("it is read-only");
    await connection.read(CONFIGURE);
    await prove(connection, runtime);
    return { connection, startedAt };
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

async function prove(connection: Connection, runtime: Runtime): Promise<void> {
  let isLate = false;
  const cancelTimer = runtime.setTimer(PROOF_LIMIT_MS, () => {
    isLate = true;
    connection.cancelAndClose(runtime);
  });
  try {
    await connection.read(PROVE);
  } catch (error) {
    if (isLate) throw new StoreAwayError("its synchronous standby does not answer");
    throw error;
  } finally {
    cancelTimer();
  }
}

/** Why a host is not the primary. */
class HostError extends Error {
  readonly isRefused: boolean;

  constructor(host: DatabaseHost, cause: StoreError) {
    super(`${hostName(host)}: ${reasonOf(cause)}`);
    this.isRefused = cause instanceof StoreRefusedError;
  }
}

/** A standby that lags behind may refuse a role or a database that the primary knows. */
function errorOfAll(errors: HostError[]): StoreError {
  if (errors.every(({ isRefused }) => isRefused)) return new StoreRefusedError(errors[0].message);
  return new StoreAwayError(`it does not answer: ${errors.map(reasonOf).join("; ")}`);
}
