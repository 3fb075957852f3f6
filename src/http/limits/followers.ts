import type { HeadEntry } from "../../log/head.ts";
import type { HeadReader } from "../../log/head_reader.ts";
import type { ApiKeyReader } from "../../projections/api_key_reader.ts";
import { backoffMs, type Runtime, sleep } from "../../runtime/runtime.ts";
import { ServiceError, serviceErrorCode } from "../../service_error.ts";
import type { Instrumentation } from "../../telemetry/instrumentation.ts";
import { HttpError } from "../errors.ts";

/** Maximum number of followers of one instance, and of one API key. */
export const FOLLOWERS_LIMIT = 2_000;
export const FOLLOWERS_OF_KEY_LIMIT = 100;

/** Time between two looks at the head if this instance appends nothing, in milliseconds. */
export const LOOK_MS = 250;

/** Minimum time between two looks, for no and for each follower: each look may make all of them send something. */
const PAUSE_MS = 10;
const PAUSE_PER_FOLLOWER_MS = 0.1;

export interface FollowersDeps {
  heads: HeadReader;
  instrumentation: Instrumentation;
  keys: ApiKeyReader;
  runtime: Runtime;
}

/** An open stream of events, or a request that waits for events. */
export interface Follower {
  /** Tells the head of a look at the store. It need not be a new one. */
  onLook(entry: HeadEntry): void;
  /** Ends it, with the error that the next request would get. */
  end(reason: ServiceError): void;
}

/**
 * The followers of one instance, who share its looks at the head: one soon after this instance has appended something,
 * and otherwise one each {@linkcode LOOK_MS}; none while nobody follows. Ends those whose API key is revoked or expires.
 */
export class Followers {
  #deps: FollowersDeps;
  #byToken = new Map<string, Set<Follower>>();
  #isLooking = false;
  #isEnding = false;
  #hasCommitted = false;
  #wake = () => {};

  constructor(deps: FollowersDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#byToken.values().reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Adds a follower that knows the log up to a head. Throws `overloaded`, `shutting_down`, or `rate_limited` if the API
   * key has too many.
   */
  add(token: string, follower: Follower, { head }: HeadEntry): void {
    if (this.#isEnding) throw shuttingDown();
    if (this.size >= FOLLOWERS_LIMIT) {
      throw new ServiceError("overloaded", "Too many clients follow the events of this instance");
    }
    const ofToken = this.#byToken.get(token) ?? new Set();
    if (ofToken.size >= FOLLOWERS_OF_KEY_LIMIT) {
      const message = `An API key may follow the events ${FOLLOWERS_OF_KEY_LIMIT} times at once`;
      throw new HttpError("rate_limited", message);
    }
    this.#byToken.set(token, ofToken.add(follower));
    const { latest } = this.#deps.heads;
    // The look that showed what was appended since may be over.
    if (latest !== undefined && latest.head.position > head.position) this.onCommitted();
    // Not a part of the request that happens to be the first.
    if (!this.#isLooking) this.#deps.instrumentation.restore(undefined, () => void this.#look());
  }

  remove(token: string, follower: Follower): void {
    const ofToken = this.#byToken.get(token);
    ofToken?.delete(follower);
    if (ofToken?.size === 0) this.#byToken.delete(token);
  }

  /** Ends all, and refuses more, because the service is shutting down. */
  endAll(): void {
    this.#isEnding = true;
    for (const token of this.#byToken.keys()) this.#end(token, shuttingDown());
  }

  /** Makes the next look be soon, because this instance has appended something. */
  onCommitted(): void {
    this.#hasCommitted = true;
    this.#wake();
  }

  #end(token: string, reason: ServiceError): void {
    const followers = this.#byToken.get(token) ?? [];
    this.#byToken.delete(token);
    for (const follower of followers) follower.end(reason);
  }

  async #look(): Promise<void> {
    const { heads, runtime } = this.#deps;
    this.#isLooking = true;
    for (let failures = 0; this.#byToken.size > 0;) {
      try {
        // What is appended from now on may not be in the head that is read.
        this.#hasCommitted = false;
        const entry = await heads.read();
        failures = 0;
        for (const [token, followers] of [...this.#byToken]) {
          if (!await this.#isLive(token, entry)) continue;
          for (const follower of followers) follower.onLook(entry);
        }
        await sleep(runtime, PAUSE_MS + PAUSE_PER_FOLLOWER_MS * this.size);
        if (!this.#hasCommitted) await this.#pause();
      } catch {
        // Those who follow wait while the store is away.
        await sleep(runtime, backoffMs(runtime, failures++));
      }
    }
    this.#isLooking = false;
  }

  /** Whether a key is live at a head. If not, ends its followers. */
  async #isLive(token: string, { head }: HeadEntry): Promise<boolean> {
    const { keys, runtime } = this.#deps;
    try {
      await keys.authorize(token, head, runtime.now());
      return true;
    } catch (error) {
      if (serviceErrorCode(error) !== "invalid_credentials") throw error;
      this.#end(token, error as ServiceError);
      return false;
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#deps.runtime.setTimer(LOOK_MS, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError("shutting_down", "The service is shutting down");
}
