import type { Runtime } from "eventstore-less";
import { backoffMs } from "eventstore-less/parts";
import { DeliveryFailedError } from "./delivery_failed_error.ts";

const HOUR_MS = 60 * 60 * 1_000;

/** The first and the longest pause between two attempts of a delivery, in milliseconds. */
const PAUSES = { firstMs: 5_000, limitMs: 8 * HOUR_MS };

/** The longest pause after a failure that is not one of the receiver, in milliseconds. */
const OWN_LIMIT_MS = 60_000;

/**
 * The pause after so many failures at one event, in milliseconds: it doubles, with jitter, and is not shorter than the time
 * that the receiver asks for, up to 8 hours. If the service itself has failed, it is at most a minute.
 */
export function pauseMsAfter(runtime: Runtime, failures: number, error: unknown): number {
  const pauseMs = backoffMs(runtime, failures - 1, PAUSES);
  if (!(error instanceof DeliveryFailedError)) return Math.min(pauseMs, OWN_LIMIT_MS);
  const { retryAfterMs = 0 } = error.attempt;
  return Math.max(pauseMs, Math.min(retryAfterMs, PAUSES.limitMs));
}
