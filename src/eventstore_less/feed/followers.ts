import type { Head } from "../definitions.ts";
import type { HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import { ServiceError } from "../service_error.ts";
import { StoreError } from "../store/store_errors.ts";

/** Maximum number of followers of one instance, and of one API key. */
export const FOLLOWERS_LIMIT = 2_000;
export const FOLLOWERS_OF_KEY_LIMIT = 100;

/** Time between two looks at the head if this instance appends nothing, in milliseconds. */
const LOOK_MS = 250;

/** Minimum time between two looks, and how much longer it is for each follower, because a look may wake all of them. */
const PAUSE_MS = 10;
const PAUSE_PER_FOLLOWER_MS = 0.1;

/** The surroundings of {@linkcode Followers}. */
export interface FollowersDeps {
  /** Reads the head that all followers share. */
  heads: HeadReader;
  /** Throws or rejects if a token is not that of a live API key at a head. */
  authorize: (token: string, head: Head) => unknown;
  /** Time and timers. */
  runtime: Runtime;
}

/** An open stream of events, or a request that waits for events. */
export interface FollowerOptions {
  /** The API key of the client. When it is revoked or expires, the follower ends. */
  token: string;
  /** The head up to which the follower knows the log. */
  entry: HeadEntry;
  /** Ends the follower when its client goes away. */
  client: AbortSignal;
  /** Maximum duration, in milliseconds. */
  limitMs: number;
  /** Whether a look at the head wakes the follower up; called after each look. */
  isWokenBy: (entry: HeadEntry) => boolean;
}

/**
 * The followers of one instance, who share its looks at the head: one soon after this instance has appended something,
 * else one each {@linkcode LOOK_MS}; none while nobody follows. Ends those whose API key is revoked or expires.
 */
export class Followers {
  #deps: FollowersDeps;
  #byToken = new Map<string, Set<Follower>>();
  #isLooking = false;
  #isEnding = false;
  #alarm = new Alarm();

  /** Looks at no head before the first follower. */
  constructor(deps: FollowersDeps) {
    this.#deps = deps;
  }

  /** Number of followers. */
  get size(): number {
    return this.#byToken.values().reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Follows until the limit of time, or until the client goes away, the key is not valid any more or the service shuts
   * down. Throws `overloaded`, `rate_limited` and `shutting_down`.
   */
  follow({ token, entry, client, limitMs, isWokenBy }: FollowerOptions): Follower {
    // The client may have gone away while the key or the log was read. Such a signal calls no listener any more.
    if (client.aborted) return endedFollower(entry);
    this.#expectRoom(token);
    const follower = new Follower(entry, isWokenBy);
    const end = () => follower.end();
    const cancelTimer = this.#deps.runtime.setTimer(limitMs, end);
    client.addEventListener("abort", end);
    follower.onEnd = () => {
      cancelTimer();
      client.removeEventListener("abort", end);
      this.#remove(token, follower);
    };
    this.#add(token, follower);
    return follower;
  }

  #expectRoom(token: string): void {
    if (this.#isEnding) throw shuttingDown();
    if (this.size >= FOLLOWERS_LIMIT) {
      throw new ServiceError("overloaded", "Too many clients follow the events of this instance");
    }
    const ofToken = this.#byToken.get(token);
    if (ofToken !== undefined && ofToken.size >= FOLLOWERS_OF_KEY_LIMIT) {
      const message = `An API key may follow the events ${FOLLOWERS_OF_KEY_LIMIT} times at once`;
      throw new ServiceError("rate_limited", message);
    }
  }

  #add(token: string, follower: Follower): void {
    const ofToken = this.#byToken.get(token) ?? new Set();
    ofToken.add(follower);
    this.#byToken.set(token, ofToken);
    const { latest } = this.#deps.heads;
    const known = follower.entry.head.position;
    // The follower may have missed the look that showed newer events.
    if (latest !== undefined && latest.head.position > known) this.onCommitted();
    if (!this.#isLooking) void this.#look();
  }

  #remove(token: string, follower: Follower): void {
    const ofToken = this.#byToken.get(token);
    if (ofToken === undefined) return;
    ofToken.delete(follower);
    if (ofToken.size === 0) this.#byToken.delete(token);
  }

  /** Ends all, and refuses more, because the service is shutting down. */
  endAll(): void {
    this.#isEnding = true;
    for (const token of this.#byToken.keys()) this.#end(token, shuttingDown());
  }

  /** Brings the next look forward. */
  onCommitted(): void {
    this.#alarm.ring();
  }

  /** Ends the followers of a key, with the error that their next request would get. */
  #end(token: string, reason: unknown): void {
    const followers = this.#byToken.get(token) ?? [];
    this.#byToken.delete(token);
    for (const follower of followers) follower.end(reason);
  }

  async #look(): Promise<void> {
    const { heads, runtime } = this.#deps;
    this.#isLooking = true;
    for (let failures = 0; this.#byToken.size > 0;) {
      const entry = await heads.read().catch(() => undefined);
      failures = entry === undefined ? failures + 1 : 0;
      await Promise.all(this.#byToken.keys().map((token) => this.#tell(token, entry)));
      if (entry === undefined) {
        await sleep(runtime, backoffMs(runtime, failures));
        continue;
      }
      await sleep(runtime, PAUSE_MS + PAUSE_PER_FOLLOWER_MS * this.size);
      const cancel = runtime.setTimer(LOOK_MS, () => this.#alarm.ring());
      await this.#alarm.wait();
      cancel();
    }
    this.#isLooking = false;
  }

  /** Shows a look at the head to the followers of a key, or ends them if the key is not valid as of this head. */
  async #tell(token: string, entry: HeadEntry | undefined): Promise<void> {
    const { authorize } = this.#deps;
    try {
      if (entry !== undefined) await authorize(token, entry.head);
    } catch (error) {
      // If the store is away, the next look decides.
      if (!(error instanceof StoreError)) this.#end(token, error);
      return;
    }
    for (const follower of this.#byToken.get(token) ?? []) follower.onLook(entry);
  }
}

/** One of those who share the looks at the head. {@linkcode Followers.follow} makes it. */
export class Follower {
  /** The head at the last look. */
  entry: HeadEntry;
  /** Whether it has ended. */
  isEnded = false;
  /** Why others ended it: the error that the next request of the client would get. */
  endReason: unknown;
  /** Called once, at the end. */
  onEnd = () => {};
  #isWokenBy: (entry: HeadEntry) => boolean;
  #alarm = new Alarm();

  /** Made by {@linkcode Followers.follow}. */
  constructor(entry: HeadEntry, isWokenBy: FollowerOptions["isWokenBy"]) {
    this.entry = entry;
    this.#isWokenBy = isWokenBy;
  }

  /** Resolves after a look that wakes it up, or at its end. */
  wait(): Promise<void> {
    return this.#alarm.wait();
  }

  /** Called after each look at the head, which may be the same as before; `undefined` if the store is away. */
  onLook(entry: HeadEntry | undefined): void {
    if (entry !== undefined) this.entry = entry;
    // A follower that could not read tries again, even if the store is still away.
    if (this.#isWokenBy(this.entry)) this.#alarm.ring();
  }

  /** Ends it. Only the first reason counts. */
  end(reason?: unknown): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.endReason = reason;
    this.onEnd();
    this.#alarm.ring();
  }
}

function endedFollower(entry: HeadEntry): Follower {
  const follower = new Follower(entry, () => false);
  follower.end();
  return follower;
}

/** Lets one caller wait until it rings. A ring that nobody waited for ends the next wait at once. */
class Alarm {
  #hasRung = false;
  #wake = () => {};

  ring(): void {
    this.#hasRung = true;
    this.#wake();
  }

  async wait(): Promise<void> {
    if (!this.#hasRung) await new Promise<void>((resolve) => this.#wake = resolve);
    this.#hasRung = false;
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError("shutting_down", "The service is shutting down");
}
