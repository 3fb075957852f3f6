import type { Runtime } from "../../runtime/runtime.ts";
import { redactKeys } from "../../runtime/redact_keys.ts";
import type { Logger } from "../../runtime/logger.ts";

/** Minimum time between two reports, in milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/** Maximum number of clients counted separately between two reports. Others count only in the total. */
const CLIENTS_LIMIT = 1_000;

/** Maximum number of clients named in a report. */
const CLIENTS_REPORTED = 5;

/** Maximum length of the reported part of an `X-Forwarded-For` header, in characters. */
const FORWARDED_FOR_LENGTH = 100;

/**
 * Logs requests that were refused because of an invalid key: the first at once, the next ones together. A request
 * without a key does not try to guess one, so it is not logged.
 */
export class RefusedCredentials {
  readonly #runtime: Runtime;
  readonly #report: Logger;
  /** Numbers of refusals by the addresses of the connection and in `X-Forwarded-For`, as JSON. */
  readonly #clients = new Map<string, number>();
  #refused = 0;
  #isQuiet = false;

  constructor(runtime: Runtime, report: Logger) {
    this.#runtime = runtime;
    this.#report = report;
  }

  /** `addressOf` returns the peer address of the connection, possibly that of a proxy. */
  note(headers: Headers, addressOf: (() => string) | undefined): void {
    this.#refused++;
    const client = JSON.stringify({
      address: addressOf?.(),
      forwardedFor: forwardedForOf(headers),
    });
    const refused = (this.#clients.get(client) ?? 0) + 1;
    if (refused > 1 || this.#clients.size < CLIENTS_LIMIT) this.#clients.set(client, refused);
    if (!this.#isQuiet) this.#log();
  }

  /** Logs the refusals since the last report, if any, and is then quiet for a while. */
  #log(): void {
    this.#isQuiet = this.#refused > 0;
    if (!this.#isQuiet) return;
    const clients = [...this.#clients].sort(([, one], [, other]) => other - one)
      .slice(0, CLIENTS_REPORTED)
      .map(([client, refused]) => ({ ...JSON.parse(client), refused }));
    this.#report("warn", "credentials_refused", { refused: this.#refused, clients });
    this.#clients.clear();
    this.#refused = 0;
    this.#runtime.setTimer(REPORT_INTERVAL_MS, () => this.#log());
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
