/** A limit on the requests of each API key, for one instance. Several instances do not share their counts. */

import { type Runtime, sleep } from "../runtime.ts";

/** Highest rate that can be set, in requests a second. */
export const RATE_LIMIT_MAX = 1_000_000;

/** A key may send the requests of this many seconds at once. */
const BURST_SECONDS = 2;

/** How many keys have a bucket. A bucket that was not used for 2 seconds is full and can be dropped. */
const BUCKETS_LIMIT = 10_000;

/** How long the answer to a refused request is held back, in milliseconds. */
export const HOLD_BACK_MS = 1_000;

/** How many answers are held back at a time. Further ones are sent at once. */
export const HELD_BACK_LIMIT = 2_000;

/** Fields of draft-ietf-httpapi-ratelimit-headers-11. */
type RateLimitHeaders = Record<"ratelimit-policy" | "ratelimit", string>;

export interface CountedRequest {
  isAdmitted: boolean;
  /** What the answer says of the limit. */
  headers: RateLimitHeaders;
}

interface Bucket {
  /** Requests that the key could send at once at {@linkcode atMs}, with a fraction. */
  tokens: number;
  atMs: number;
}

/** A token bucket for each key. */
export class RateLimiter {
  /** Requests a second for each key. */
  readonly perSecond: number;
  readonly #capacity: number;
  readonly #policy: string;
  readonly #runtime: Runtime;
  /** In the order of last use. */
  readonly #buckets = new Map<string, Bucket>();
  #heldBack = 0;

  /** `perSecond` is a whole number from 1 to {@linkcode RATE_LIMIT_MAX}. */
  constructor(perSecond: number, runtime: Runtime) {
    this.perSecond = perSecond;
    this.#capacity = BURST_SECONDS * perSecond;
    this.#policy = `"default";q=${this.#capacity};w=${BURST_SECONDS}`;
    this.#runtime = runtime;
  }

  /**
   * Counts a request of that key. A key that was refused is admitted again one second later, for a
   * bucket gets one token a second at least.
   */
  count(keyId: string): CountedRequest {
    const now = this.#runtime.monotonicNow();
    const bucket = this.#buckets.get(keyId) ?? { tokens: this.#capacity, atMs: now };
    const refill = (now - bucket.atMs) * this.perSecond / 1_000;
    const tokens = Math.min(this.#capacity, bucket.tokens + refill);
    this.#buckets.delete(keyId);
    if (this.#buckets.size >= BUCKETS_LIMIT) {
      this.#buckets.delete(this.#buckets.keys().next().value!);
    }
    this.#buckets.set(keyId, bucket);
    // A refused request leaves the bucket as it is: otherwise rounding errors would add up.
    if (tokens < 1) return { isAdmitted: false, headers: this.#headers(0) };
    bucket.tokens = tokens - 1;
    bucket.atMs = now;
    return { isAdmitted: true, headers: this.#headers(Math.floor(bucket.tokens)) };
  }

  /**
   * Resolves when the answer to a refused request may be sent. A client that repeats refused requests
   * would otherwise get more answers than without a limit, and take as much of the processor.
   */
  async holdBack(): Promise<void> {
    if (this.#heldBack >= HELD_BACK_LIMIT) return;
    this.#heldBack++;
    await sleep(this.#runtime, HOLD_BACK_MS);
    this.#heldBack--;
  }

  #headers(remaining: number): RateLimitHeaders {
    // Rounded up, so that `r / t` never exceeds the rate.
    const windowSeconds = Math.max(1, Math.ceil(remaining / this.perSecond));
    return {
      "ratelimit-policy": this.#policy,
      "ratelimit": `"default";r=${remaining};t=${windowSeconds}`,
    };
  }
}
