import type { Runtime } from "../../runtime/runtime.ts";
import { redactKeys } from "../../runtime/redact_keys.ts";
import type { Logger } from "../../runtime/logger.ts";
import { type Instrumentation, NO_INSTRUMENTATION } from "../../telemetry/instrumentation.ts";

/** Minimum time between two reports, in milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/** Maximum number of clients counted separately between two reports. Others count only in the total. */
const CLIENTS_LIMIT = 1_000;

/** Maximum number of clients named in a report. */
const CLIENTS_REPORTED = 5;

/** Maximum length of the reported part of an `X-Forwarded-For` header, in characters. */
const FORWARDED_FOR_LENGTH = 100;

export interface RefusedCredentialsDeps {
  runtime: Runtime;
  report: Logger;
  instrumentation?: Instrumentation;
}

interface Client {
  /** The peer address of the connection, possibly that of a proxy. */
  address: string | undefined;
  /** The address that the request claims in `X-Forwarded-For`. */
  forwardedFor: string | undefined;
  refused: number;
}

/**
 * Counts the requests refused with 401 and reports those with an invalid key. The first is reported at once,
 * the next ones together. A request without a key does not try to guess one, so it is not reported.
 */
export class RefusedCredentials {
  readonly #deps: RefusedCredentialsDeps;
  readonly #clients = new Map<string, Client>();
  #refused = 0;
  #reportedAtMs = -Infinity;
  #isReportDue = false;

  constructor(deps: RefusedCredentialsDeps) {
    this.#deps = deps;
  }

  note(
    reason: "missing" | "invalid",
    headers: Headers,
    addressOf: (() => string) | undefined,
  ): void {
    const { runtime, instrumentation = NO_INSTRUMENTATION } = this.#deps;
    instrumentation.count("credentials.refused", { reason });
    if (reason === "missing") return;
    this.#refused++;
    const [address, forwardedFor] = [addressOf?.(), forwardedForOf(headers)];
    const name = `${address} ${forwardedFor}`;
    const client = this.#clients.get(name);
    if (client !== undefined) client.refused++;
    else if (this.#clients.size < CLIENTS_LIMIT) {
      this.#clients.set(name, { address, forwardedFor, refused: 1 });
    }
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    const waitMs = this.#reportedAtMs + REPORT_INTERVAL_MS - runtime.monotonicNow();
    if (waitMs <= 0) this.#report();
    else runtime.setTimer(waitMs, () => this.#report());
  }

  #report(): void {
    const clients = [...this.#clients.values()]
      .sort((one, other) => other.refused - one.refused)
      .slice(0, CLIENTS_REPORTED);
    this.#deps.report("warn", "credentials_refused", { refused: this.#refused, clients });
    this.#clients.clear();
    this.#refused = 0;
    this.#reportedAtMs = this.#deps.runtime.monotonicNow();
    this.#isReportDue = false;
  }
}

/**
 * Returns the last element of `X-Forwarded-For`, which the nearest proxy adds. A client can forge all
 * elements before it. Keys are redacted before the text is cut, because redaction does not recognise part of
 * a key.
 */
function forwardedForOf(headers: Headers): string | undefined {
  const element = headers.get("x-forwarded-for")?.split(",").at(-1);
  const text = element?.replace(/[^\x20-\x7e]/g, "").trim();
  return text && redactKeys(text).slice(-FORWARDED_FOR_LENGTH);
}
