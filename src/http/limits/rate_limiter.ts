/** Limits the requests of each API key by a token bucket. Instances do not share their counts. */

import type { Runtime } from "eventstore-less";
import { BoundedCache, sleep } from "eventstore-less/parts";

/** A key may send as many requests at once as its rate allows in this many seconds. */
const BURST_SECONDS = 2;

/** Maximum number of buckets. A bucket that was unused for 2 seconds is full and can be dropped. */
const BUCKETS_LIMIT = 10_000;

/** Delay of the response to a refused request, in milliseconds. */
export const HOLD_BACK_MS = 1_000;

/** Maximum number of responses delayed at a time. Further responses are sent at once. */
export const HELD_BACK_LIMIT = 2_000;

export interface CountedRequest {
  isAdmitted: boolean;
  /** The fields of draft-ietf-httpapi-ratelimit-headers-11 for the response. */
  headers: Record<string, string>;
}

interface Bucket {
  /** Requests that the key could send at once at {@linkcode atMs}; may be fractional, and below 0 after a batch. */
  tokens: number;
  atMs: number;
}

export class RateLimiter {
  readonly perSecond: number;
  readonly #capacity: number;
  readonly #runtime: Runtime;
  /** Ordered by last use, the least recent first. */
  readonly #buckets = new BoundedCache<Bucket>(BUCKETS_LIMIT);
  #heldBack = 0;

  /** `perSecond` is a whole number, 1 or more. */
  constructor(perSecond: number, runtime: Runtime) {
    this.perSecond = perSecond;
    this.#capacity = BURST_SECONDS * perSecond;
    this.#runtime = runtime;
  }

  /** Counts a request of that key. A refused key gains at least one token per second. */
  count(keyId: string): CountedRequest {
    const now = this.#runtime.monotonicNow();
    const bucket = this.#buckets.get(keyId) ?? { tokens: this.#capacity, atMs: now };
    const refill = (now - bucket.atMs) * this.perSecond / 1_000;
    const tokens = Math.min(this.#capacity, bucket.tokens + refill);
    this.#buckets.set(keyId, bucket);
    // A refused request does not change the bucket; otherwise rounding errors would add up.
    if (tokens < 1) return { isAdmitted: false, headers: this.#headers(0) };
    bucket.tokens = tokens - 1;
    bucket.atMs = now;
    return { isAdmitted: true, headers: this.#headers(Math.floor(bucket.tokens)) };
  }

  /** Counts further requests of a key, of which one was just admitted. The bucket may then lack tokens. */
  charge(keyId: string, requests: number): CountedRequest {
    const now = this.#runtime.monotonicNow();
    const bucket = this.#buckets.get(keyId) ?? { tokens: this.#capacity, atMs: now };
    bucket.tokens -= requests;
    this.#buckets.set(keyId, bucket);
    return { isAdmitted: true, headers: this.#headers(Math.max(0, Math.floor(bucket.tokens))) };
  }

  /**
   * Resolves when the response to a refused request may be sent. Without this delay, a client that repeats
   * refused requests at once would get more responses than without a limit, and use as much CPU.
   */
  async holdBack(): Promise<void> {
    if (this.#heldBack >= HELD_BACK_LIMIT) return;
    this.#heldBack++;
    await sleep(this.#runtime, HOLD_BACK_MS);
    this.#heldBack--;
  }

  #headers(remaining: number): Record<string, string> {
    // Rounded up, so that `r / t` never exceeds the rate.
    const windowSeconds = Math.max(1, Math.ceil(remaining / this.perSecond));
    return {
      "ratelimit-policy": `"default";q=${this.#capacity};w=${BURST_SECONDS}`,
      "ratelimit": `"default";r=${remaining};t=${windowSeconds}`,
    };
  }
}
