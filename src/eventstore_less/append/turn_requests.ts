/** How an instance that loses every commit asks the others for a turn: "Several instances" in eventstore_less/internals.md explains it. */

import { decodeJson, encodeJson } from "../encoding/json.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { TURN_REQUESTS, turnRequestKey } from "../keyspace.ts";
import { checkedContent, withChecksum } from "../store/checksum.ts";
import type { Mutation, Store, StoreEntry } from "../store/store.ts";

/** Number of plans that an instance loses in a row before it asks. Instances that take turns lose fewer. */
const LOSSES = 4;

/** Time between two requests of an instance, in milliseconds: shorter than the time between two looks of the others. */
const REQUEST_INTERVAL_MS = 250;

/** Time between two looks at the requests, in milliseconds. */
const LOOK_INTERVAL_MS = 500;

/**
 * How long a request counts, in milliseconds. Clocks differ, so a request is recent only if it came between two looks,
 * of which the first one is not older than this.
 */
const RECENT_MS = 2 * LOOK_INTERVAL_MS;

/** Time after which a request that has not changed is removed: its instance has ended. */
const STALE_MS = 10_000;

/** Maximum number of requests of one look. */
const LIST_LIMIT = 16;

/** A record that was found: its version, and since when it has been known, in milliseconds. */
interface Known {
  versionstamp: string;
  since: number;
}

/**
 * The requests of an instance, and those that it sees. All calls of the store are made beside the commits, which neither
 * wait for them nor fail with them.
 */
export class TurnRequests {
  #store: Store;
  #runtime: Runtime;
  #key: ReturnType<typeof turnRequestKey>;
  #losses = 0;
  #requestedAt = -Infinity;
  /** The version of the own request; `null` if there is none. */
  #own: string | null = null;
  #lookedAt = -Infinity;
  #known = new Map<string, Known>();
  /** Number of instances that have asked since the last call of {@linkcode take}. */
  #count = 0;
  #stepMs = 0;
  #seenAt = -Infinity;
  #isCalling = false;

  constructor(store: Store, runtime: Runtime) {
    this.#store = store;
    this.#runtime = runtime;
    this.#key = turnRequestKey(runtime.newId());
  }

  /**
   * How long a plan of those takes that have asked lately, in milliseconds; 0 if none has. It is kept longer than a request
   * counts, because a slow instance that has landed does not ask, and still needs that time for its next turn.
   */
  get stepMs(): number {
    return this.#runtime.monotonicNow() - this.#seenAt < STALE_MS ? this.#stepMs : 0;
  }

  /** The number of other instances that have asked since the last call. */
  take(): number {
    const count = this.#count;
    this.#count = 0;
    return count;
  }

  /** Call it after an own commit landed. It withdraws the own request, and looks for those of others. */
  onLanded(): void {
    this.#losses = 0;
    const isDue = this.#runtime.monotonicNow() - this.#lookedAt >= LOOK_INTERVAL_MS;
    if (this.#own !== null) this.#call(() => this.#withdraw());
    else if (isDue) this.#call(() => this.#look());
  }

  /** Call it after a plan was lost. `stepMs` is how long it took, in milliseconds. */
  onLost(stepMs: number): void {
    this.#losses++;
    const isDue = this.#runtime.monotonicNow() - this.#requestedAt >= REQUEST_INTERVAL_MS;
    if (this.#losses >= LOSSES && isDue) this.#call(() => this.#request(stepMs));
  }

  /** Makes one call at a time. A call that fails only delays a turn. If the store fails, the commits show it. */
  #call(call: () => Promise<void>): void {
    if (this.#isCalling) return;
    this.#isCalling = true;
    call().catch(() => {}).finally(() => {
      this.#isCalling = false;
    });
  }

  async #request(stepMs: number): Promise<void> {
    this.#requestedAt = this.#runtime.monotonicNow();
    const value = withChecksum(this.#key, encodeJson({ stepMs }));
    this.#own = await this.#replaceOwn({ type: "set", key: this.#key, value });
  }

  async #withdraw(): Promise<void> {
    await this.#replaceOwn({ type: "delete", key: this.#key });
    this.#own = null;
  }

  async #replaceOwn(mutation: Mutation): Promise<string | null> {
    const guard = { key: this.#key, versionstamp: this.#own };
    const versionstamp = await this.#store.commit({ guard, mutations: [mutation] });
    if (versionstamp !== null) return versionstamp;
    // An earlier call landed although it failed, or another instance took the request for a stale one.
    return (await this.#store.get(this.#key))?.versionstamp ?? null;
  }

  async #look(): Promise<void> {
    const now = this.#runtime.monotonicNow();
    const isFollowing = now - this.#lookedAt < RECENT_MS;
    this.#lookedAt = now;
    const entries = await this.#store.list({ prefix: TURN_REQUESTS }, { limit: LIST_LIMIT });
    const before = this.#known;
    this.#known = new Map();
    const asking: StoreEntry[] = [];
    for (const entry of entries) {
      const { key, versionstamp } = entry;
      const name = String(key.at(-1));
      const known = before.get(name);
      const isUnchanged = known?.versionstamp === versionstamp;
      this.#known.set(name, isUnchanged ? known : { versionstamp, since: now });
      if (!isUnchanged && isFollowing) asking.push(entry);
    }
    if (asking.length > 0) {
      this.#count = asking.length;
      this.#stepMs = Math.max(...asking.map(stepMsOf));
      this.#seenAt = now;
    }
    await this.#removeStale(entries, now);
  }

  async #removeStale(entries: readonly StoreEntry[], now: number): Promise<void> {
    for (const { key, versionstamp } of entries) {
      const { since } = this.#known.get(String(key.at(-1)))!;
      if (now - since < STALE_MS) continue;
      const guard = { key, versionstamp };
      await this.#store.commit({ guard, mutations: [{ type: "delete", key }] });
    }
  }
}

/** How long a plan takes of the instance that made this request; 0 if the record is damaged. */
function stepMsOf(entry: StoreEntry): number {
  const content = checkedContent(entry);
  return content === undefined ? 0 : Number(decodeJson(content).stepMs);
}
