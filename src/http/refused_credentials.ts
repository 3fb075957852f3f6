import type { Runtime } from "../runtime.ts";
import { redactKeys } from "../redact_keys.ts";
import type { Logger } from "../logger.ts";

/** Shortest time between two reports, in milliseconds. */
export const REPORT_INTERVAL_MS = 10_000;

/** How many clients are counted separately between two reports; the rest count only in the total. */
const CLIENTS_LIMIT = 1_000;

/** How many clients a report names. */
const CLIENTS_REPORTED = 5;

/** How much is reported of an `X-Forwarded-For` header, in characters. */
const FORWARDED_FOR_LENGTH = 100;

export type RefusalReason = "missing" | "invalid";

export interface RefusedCredentialsDeps {
  runtime: Runtime;
  report: Logger;
  /** Is called at every refusal. */
  count?: (reason: RefusalReason) => void;
}

interface Client {
  /** Of the connection, so perhaps of a proxy. */
  address: string | undefined;
  /** What the request itself claims. */
  forwardedFor: string | undefined;
  refused: number;
}

/**
 * Counts the requests that are answered 401, and reports those with a key that is not valid: the first
 * at once, the next ones together. A request without a key is no attempt to guess one, and not reported.
 */
export class RefusedCredentials {
  readonly #parts: RefusedCredentialsDeps;
  readonly #clients = new Map<string, Client>();
  #refused = 0;
  #reportedAtMs = -Infinity;
  #isReportDue = false;

  constructor(parts: RefusedCredentialsDeps) {
    this.#parts = parts;
  }

  note(reason: RefusalReason, headers: Headers, addressOf: (() => string) | undefined): void {
    this.#parts.count?.(reason);
    if (reason === "missing") return;
    this.#refused++;
    this.#noteClient(addressOf?.(), forwardedForOf(headers));
    if (this.#isReportDue) return;
    const { runtime } = this.#parts;
    const waitMs = this.#reportedAtMs + REPORT_INTERVAL_MS - runtime.monotonicNow();
    if (waitMs <= 0) return this.#report();
    this.#isReportDue = true;
    runtime.setTimer(waitMs, () => this.#report());
  }

  #noteClient(address: string | undefined, forwardedFor: string | undefined): void {
    const name = `${address} ${forwardedFor}`;
    const client = this.#clients.get(name);
    if (client !== undefined) client.refused++;
    else if (this.#clients.size < CLIENTS_LIMIT) {
      this.#clients.set(name, { address, forwardedFor, refused: 1 });
    }
  }

  #report(): void {
    const clients = [...this.#clients.values()]
      .sort((one, other) => other.refused - one.refused)
      .slice(0, CLIENTS_REPORTED);
    this.#parts.report("warn", "credentials_refused", { refused: this.#refused, clients });
    this.#clients.clear();
    this.#refused = 0;
    this.#reportedAtMs = this.#parts.runtime.monotonicNow();
    this.#isReportDue = false;
  }
}

/**
 * The last element of `X-Forwarded-For`, which the nearest proxy adds: a client can write all elements before
 * it. Keys are redacted before the text is cut, since redaction does not recognise part of a key.
 */
function forwardedForOf(headers: Headers): string | undefined {
  const element = headers.get("x-forwarded-for")?.split(",").at(-1);
  const text = element?.replace(/[^\x20-\x7e]/g, "").trim();
  return text && redactKeys(text).slice(-FORWARDED_FOR_LENGTH);
}
