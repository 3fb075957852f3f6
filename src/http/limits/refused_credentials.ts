import type { Runtime } from "../../runtime/runtime.ts";
import { redactKeys } from "../../runtime/redact_keys.ts";
import type { Logger } from "../../runtime/logger.ts";

/** Minimum time between two lines, in milliseconds. */
const LOG_INTERVAL_MS = 10_000;

/** Maximum length of the logged part of an `X-Forwarded-For` header, in characters. */
const FORWARDED_FOR_LENGTH = 100;

/**
 * Returns a function that logs refusals of invalid keys: the first at once, the next ones together, with the address of
 * the last one. A request without a key guesses none, so it is not logged. `address` is that of the peer, or of the client
 * behind a trusted proxy.
 */
export function refusedCredentialsLog({ runtime, report }: { runtime: Runtime; report: Logger }) {
  let refused = 0;
  let isQuiet = false;
  let client = {};
  const log = () => {
    isQuiet = refused > 0;
    if (!isQuiet) return;
    report("warn", "credentials_refused", { refused, ...client });
    refused = 0;
    runtime.setTimer(LOG_INTERVAL_MS, log);
  };
  return (headers: Headers, address: string | undefined): void => {
    refused++;
    client = { address, forwardedFor: forwardedForOf(headers) };
    if (!isQuiet) log();
  };
}

/** The last element of `X-Forwarded-For`, which the nearest proxy adds. A client can forge all elements before it. */
function forwardedForOf(headers: Headers): string | undefined {
  const element = headers.get("x-forwarded-for")?.split(",").at(-1);
  const text = element?.replace(/[^\x20-\x7e]/g, "").trim();
  // Redaction does not recognise part of a key, so it comes before the cut.
  return text && redactKeys(text).slice(-FORWARDED_FOR_LENGTH);
}
