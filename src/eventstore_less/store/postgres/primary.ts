/** Finds the primary among the hosts of a database, and connects to it. */

import { reasonOf } from "../../runtime/logger.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { StandbyAwaitedError, StoreAwayError, StoreRefusedError } from "../store_errors.ts";
import type { Connection } from "./connection.ts";
import { type DatabaseHost, hostName, type PostgresSettings } from "./database_url.ts";
import type { Program } from "./program.ts";
import { provePrimary } from "./prove_primary.ts";
import { openSessions } from "./session.ts";

/** Two connections to the primary. A long read must not delay a commit, nor a commit a read. */
export type PrimaryConnections = { reads: Connection; commits: Connection };

/**
 * Connects to the first host that proves to be the primary. Asks all at once, because one that hangs must not delay the
 * others. Rejects with `StoreRefusedError` if waiting does not help, and otherwise with `StoreAwayError`.
 */
export async function connectToPrimary(
  settings: PostgresSettings & Program,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<PrimaryConnections> {
  const found = new AbortController();
  const attempts = settings.hosts.map(async (host) => {
    const either = AbortSignal.any([signal, found.signal]);
    try {
      return await connectTo(host, settings, runtime, either);
    } catch (error) {
      if (error instanceof StandbyAwaitedError) throw error;
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
    // Only a primary waits for a standby, so the others do not matter.
    const awaited = errors.find((it) => it instanceof StandbyAwaitedError);
    if (awaited !== undefined) throw awaited;
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
  settings: PostgresSettings & Program,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<PrimaryConnections> {
  const [reads, commits] = await openSessions(host, settings, runtime, signal);
  const connections = { reads: reads.connection, commits: commits.connection };
  try {
    await provePrimary(commits, reads, runtime, signal);
    return connections;
  } catch (error) {
    closeBoth(connections);
    throw error;
  }
}
