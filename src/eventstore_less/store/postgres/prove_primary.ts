import type { Runtime } from "../../runtime/runtime.ts";
import { StandbyAwaitedError, StoreAwayError } from "../store_errors.ts";
import type { Row } from "./connection.ts";
import type { Session } from "./session.ts";
import { STANDBYS } from "./statements.ts";

/** Time in which a primary and its synchronous standby must prove themselves. */
const PROOF_LIMIT_MS = 1_000;

/** Time in which a server must cancel a proof that is late. */
const CANCEL_LIMIT_MS = 1_000;

/**
 * Commits a record that changes nothing. Only the primary can, and only while its synchronous standby answers: it fails
 * on a standby, and on a primary that was replaced, unless another synchronous standby still follows that one.
 */
const PROVE = "select pg_catalog.pg_logical_emit_message(true, 'eventstore-less', '')";

const CANCEL = "select pg_catalog.pg_cancel_backend($1)";

/**
 * Rejects unless the server commits PROVE in time. A late PROVE is cancelled over `reads`, because its process would
 * outlive the connection. The connections are then never used: the cancel could still meet a real commit, which would
 * count as successful without its standby.
 */
export async function provePrimary(
  commits: Session,
  reads: Session,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<void> {
  let isLate = false;
  let standbys: Row | undefined;
  let stopTimer = () => {};
  const giveUp = () => {
    isLate = true;
    reads.connection.read(STANDBYS).then(([row]) => {
      standbys = row;
    }, () => {});
    reads.connection.read(CANCEL, [commits.pid]).catch(() => {});
    stopTimer();
    stopTimer = runtime.setTimer(CANCEL_LIMIT_MS, () => commits.connection.close());
  };
  stopTimer = runtime.setTimer(PROOF_LIMIT_MS, giveUp);
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  try {
    await commits.connection.read(PROVE);
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    stopTimer();
    signal.removeEventListener("abort", giveUp);
  }
  if (isLate) throw lateError(standbys);
}

/** The error if a server does not commit in time. */
function lateError(standbys: Row | undefined): StoreAwayError {
  const [names = "", connected = null] = standbys ?? [];
  if (names === "") return new StoreAwayError("it does not commit");
  const state = connected === null ? "none connected" : `connected: ${connected}`;
  return new StandbyAwaitedError(
    `it waits for a standby: synchronous_standby_names = ${names}, ${state}`,
  );
}
