import type { Application } from "../application.ts";
import type { Body, Head } from "../definitions.ts";
import { bytesEqual } from "../encoding/bytes_equal.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { consumersKey } from "../keyspace.ts";
import { GENESIS_HASH } from "../log/event.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { readEventAt } from "../log/read_log.ts";
import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import { commitUntilKnown } from "../store/commit_until_known.ts";
import { ServiceError } from "../service_error.ts";
import type { Commit, Store } from "../store/store.ts";
import type { Consumer } from "./consumer.ts";
import {
  type ConsumerPlace,
  type ConsumerRecord,
  decodeConsumerRecord,
  encodeConsumerRecord,
  type Failing,
  newRecord,
  placeIn,
  PLACES_LIMIT,
  withoutConsumer,
  withPlace,
} from "./consumer_record.ts";
import { LogTail } from "./log_tail.ts";

/** Time between two looks at the record of a group for which another instance works, in milliseconds. */
const LOOK_MS = 1_000;

/** Time after which a record that has not changed is taken over, in milliseconds of the own monotonic clock. */
const TAKE_OVER_MS = 10_000;

/** Minimum time between two writes of the places, in milliseconds. */
const WRITE_PAUSE_MS = 1_000;

/** Time after which a record is written although nothing has changed, in milliseconds. */
const RENEW_MS = 3_000;

/**
 * Time after which an instance that could not write the record stops its handlers, in milliseconds since it began
 * the last write that landed. Handlers have the rest of {@linkcode TAKE_OVER_MS} to end.
 */
const HOLD_MS = 6_000;

/** Maximum number of attempts to change the record while any instance holds it. One fails if another write comes first. */
const CHANGE_ATTEMPTS = 20;

/** How long a handler may take to end its call when its consumer or its instance ends, in milliseconds. */
const GRACE_MS = 2_000;

/** How a consumer is, as its instance knows. */
export interface ConsumerState {
  /**
   * - `working`: this instance calls the handler.
   * - `waiting`: another instance does, or this one will soon.
   * - `stopped`: it has no place in this log, until an operator names one.
   */
  state: "working" | "waiting" | "stopped";
  /** The position of the last event that it has handled or passed. Only the instance that works knows it. */
  position?: number;
  /** Its failures at the next event. */
  failing?: Failing;
  /** Why it is stopped. */
  reason?: string;
}

/** A consumer of this instance, as {@linkcode EventStore.consume} gives it. */
export interface ConsumerHandle {
  /** Its name, which it has on all instances. */
  readonly name: string;
  /** How it is now. */
  readonly state: ConsumerState;
  /** Ends the pause after a failure. */
  retry(): void;
  /** Ends it on this instance, after the call of its handler that is under way. Its place stays in the store. */
  stop(): Promise<void>;
  /**
   * Ends it as {@linkcode ConsumerHandle.stop} does, and removes its place from the store, also if this instance does not
   * work. Rejects with `store_unavailable` or an error of the store if it could not. An instance that still has the consumer stores a place again.
   */
  forget(): Promise<void>;
}

/** The surroundings of a {@linkcode ConsumerGroup}. */
export interface ConsumerGroupDeps {
  application: Application;
  heads: HeadReader;
  runtime: Runtime;
  store: Store;
  /** Resolves after the next commit of this instance, or after some time. */
  waitForCommit(position: number): Promise<void>;
}

/** The record that this instance has written last, and what the store knows of it. */
interface Held {
  record: ConsumerRecord;
  versionstamp: string;
  /** When the write began, by the monotonic clock. */
  at: number;
  /** When the last attempt to write it again began. */
  triedAt: number;
}

/**
 * The consumers of an instance whose names begin alike. They work on one instance at a time, and their places are stored
 * together: "Consumers" in eventstore_less/internals.md explains how.
 */
export class ConsumerGroup<EventBody extends Body> {
  readonly #name: string;
  readonly #deps: ConsumerGroupDeps;
  readonly #instance: string;
  readonly #tail: LogTail<EventBody>;
  readonly #consumers = new Map<string, Consumer<EventBody>>();
  /** The places of consumers that were removed since the last write; `undefined` for those that were forgotten. */
  readonly #left = new Map<string, ConsumerPlace | undefined>();
  /** The consumers that were added since the last write of the record. */
  readonly #added = new Set<Consumer<EventBody>>();
  #held: Held | undefined;
  #cancelExpiry = () => {};
  /** Whether the write that lets another instance work is under way. */
  #isReleasing = false;
  /** Whether a place has changed since the last write. */
  #hasMoved = false;
  #wake = () => {};
  #running: Promise<void> | undefined;

  /** Reads nothing before the first consumer. */
  constructor(name: string, deps: ConsumerGroupDeps) {
    this.#name = name;
    this.#deps = deps;
    this.#instance = deps.runtime.newId();
    this.#tail = new LogTail(deps);
  }

  /** Adds a consumer. Throws `RangeError` if this instance has one of that name, or too many. */
  add(consumer: Consumer<EventBody>): ConsumerHandle {
    const { name } = consumer;
    if (this.#consumers.has(name)) throw new RangeError(`This instance has a consumer ${name}`);
    if (this.#consumers.size >= PLACES_LIMIT) {
      throw new RangeError(`A group has at most ${PLACES_LIMIT} consumers: ${this.#name}`);
    }
    this.#consumers.set(name, consumer);
    // The record may have a later place of it than this instance knows, so it begins with the next write of the record.
    if (this.#held !== undefined) this.#added.add(consumer);
    this.#changed();
    this.#running ??= this.#run();
    const stateOf = () => this.#stateOf(consumer);
    return {
      name,
      get state() {
        return stateOf();
      },
      retry: () => consumer.retry(),
      stop: () => this.#remove(consumer),
      forget: () => this.#forget(consumer),
    };
  }

  #stateOf(consumer: Consumer<EventBody>): ConsumerState {
    const { isWorking, place, reason } = consumer;
    if (this.#held !== undefined && reason !== undefined) return { state: "stopped", reason };
    if (!isWorking) return { state: "waiting" };
    return { state: "working", position: place!.position, failing: place!.failing };
  }

  async #remove(consumer: Consumer<EventBody>): Promise<void> {
    const { name } = consumer;
    consumer.isRemoved = true;
    this.#added.delete(consumer);
    await consumer.end(GRACE_MS);
    if (this.#consumers.get(name) !== consumer) return;
    const { place } = consumer;
    if (this.#held !== undefined && place !== undefined) this.#left.set(name, place);
    this.#consumers.delete(name);
    this.#changed();
  }

  async #forget(consumer: Consumer<EventBody>): Promise<void> {
    const { name } = consumer;
    await this.#remove(consumer);
    if (this.#consumers.has(name)) return;
    if (this.#held !== undefined) {
      this.#left.set(name, undefined);
      this.#changed();
    }
    await this.#removePlace(name);
  }

  /** Removes the place of a consumer that no instance has. Rejects as {@linkcode ConsumerHandle.forget} does. */
  async forget(name: string): Promise<void> {
    await this.#removePlace(name);
  }

  /**
   * Lets a consumer continue after a position, on whatever instance it works. Rejects with `RangeError` if the log has no
   * such position, or if the group has no room for the place; with `store_unavailable` or an error of the store.
   */
  async place(name: string, position: number): Promise<void> {
    const { heads, runtime } = this.#deps;
    const { head } = await heads.fresh();
    const found = await this.#placeAt(position, head);
    if (found === undefined) throw new RangeError(`The log has no position ${position}`);
    const place = { ...found, named: runtime.newId() };
    const change = (record = newRecord(head)) => {
      const placed = withPlace(record, name, place);
      if (placed === undefined) throw new RangeError(fullGroupReason(this.#name));
      return placed;
    };
    await this.#change(change, `The place of ${name} could not be changed`);
  }

  /** Whether a consumer that begins after a position is stopped, because nobody knows what it has handled before. */
  async needsPlace(name: string, after: number): Promise<boolean> {
    const entry = await this.#deps.store.get(consumersKey(this.#name));
    const record = decodeConsumerRecord(entry) ?? await this.#newRecord();
    return placeIn(record, name) === undefined && after < record.since;
  }

  /** Lets a consumer that has a place try again at once, as of its stored place, on whatever instance it works. */
  async retry(name: string): Promise<void> {
    const named = this.#deps.runtime.newId();
    const change = (found: ConsumerRecord | undefined) => {
      const stored = found && placeIn(found, name);
      if (stored === undefined) return found;
      const { position, hash } = stored;
      return withPlace(found!, name, { position, hash, named });
    };
    await this.#change(change, `The place of ${name} could not be changed`);
  }

  /** Makes the record unless the store has it. Rejects with `store_unavailable` or an error of the store if it could not. */
  async register(): Promise<void> {
    const make = (found: ConsumerRecord | undefined) =>
      found === undefined ? this.#newRecord() : found;
    await this.#change(make, `The record of ${this.#name} could not be made`);
  }

  /** Ends all consumers, stores their places, and lets another instance work. */
  async close(): Promise<void> {
    await Promise.all(this.#consumers.values().map((consumer) => this.#remove(consumer)));
    await this.#running;
  }

  #changed(): void {
    this.#hasMoved = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#isOver()) {
      const held = await this.#take();
      if (held === undefined) continue;
      this.#setHeld(held);
      for (const consumer of this.#consumers.values()) this.#begin(consumer, held.record);
      await this.#hold();
    }
    this.#running = undefined;
  }

  #isOver(): boolean {
    return this.#consumers.size === 0;
  }

  /** Ends the handlers in time although a write is under way, because another instance may work soon. */
  #setHeld(held: Held | undefined): void {
    this.#cancelExpiry();
    this.#held = held;
    if (held === undefined) {
      this.#left.clear();
      this.#added.clear();
      for (const consumer of this.#consumers.values()) void consumer.end();
      return;
    }
    const { runtime } = this.#deps;
    const leftMs = held.at + HOLD_MS - runtime.monotonicNow();
    this.#cancelExpiry = runtime.setTimer(leftMs, () => {
      this.#setHeld(undefined);
      this.#wake();
    });
  }

  #isHeld(held: Held | undefined): held is Held {
    return held !== undefined && this.#deps.runtime.monotonicNow() - held.at < HOLD_MS;
  }

  /** Waits until no other instance works, and writes this one into the record; `undefined` if there is nothing to do any more. */
  async #take(): Promise<Held | undefined> {
    const { runtime, store } = this.#deps;
    let seen: string | undefined;
    let seenAt = runtime.monotonicNow();
    while (!this.#isOver()) {
      try {
        const entry = await store.get(consumersKey(this.#name));
        const found = decodeConsumerRecord(entry);
        if (entry?.versionstamp !== seen) {
          seen = entry?.versionstamp;
          seenAt = runtime.monotonicNow();
        }
        const isUnchanged = runtime.monotonicNow() - seenAt >= TAKE_OVER_MS;
        const isFree = found?.holder === undefined || found.holder === this.#instance;
        if (isFree || isUnchanged) {
          const record = found ?? await this.#newRecord();
          const held = await this.#write({ ...record, holder: this.#instance }, seen ?? null);
          if (held !== undefined) return held;
        }
      } catch {
        // The store says itself that it is away.
      }
      await this.#wait(LOOK_MS);
    }
  }

  async #newRecord(): Promise<ConsumerRecord> {
    const { head } = await this.#deps.heads.fresh();
    return newRecord(head);
  }

  /** Stores the places until another instance may work, or nothing is left to do. */
  async #hold(): Promise<void> {
    const { runtime } = this.#deps;
    while (this.#held !== undefined) {
      const waited = runtime.monotonicNow() - this.#held.triedAt;
      const pause = this.#hasMoved ? WRITE_PAUSE_MS : RENEW_MS;
      if (waited < pause && !this.#isOver()) {
        await this.#wait(pause - waited);
        continue;
      }
      this.#isReleasing = this.#isOver();
      await this.#renew(this.#held);
      this.#isReleasing = false;
    }
  }

  /** Writes the record. If the write fails, reads the record, and continues if this instance is still the holder. */
  async #renew(held: Held): Promise<void> {
    const { runtime, store } = this.#deps;
    const { record, versionstamp, at } = held;
    const isLast = this.#isReleasing;
    this.#hasMoved = false;
    const triedAt = runtime.monotonicNow();
    const left = new Map(this.#left);
    const added = new Set(this.#added);
    const places = this.#places(record);
    const stopped = this.#stopped(record, places);
    const holder = isLast ? undefined : this.#instance;
    const next = { ...record, holder, places, stopped };
    const renewed = await this.#write(next, versionstamp, at + HOLD_MS);
    if (renewed !== undefined) {
      for (const [name, place] of left) {
        if (this.#left.get(name) === place) this.#left.delete(name);
      }
      this.#setHeld(!isLast && this.#isHeld(this.#held) ? renewed : undefined);
      if (this.#held !== undefined) this.#beginAdded(added, renewed.record);
      return;
    }
    const entry = await store.get(consumersKey(this.#name)).catch(() => null);
    const found = decodeConsumerRecord(entry);
    const isOurs = found?.holder === this.#instance && this.#isHeld(this.#held);
    const hasChanged = entry?.versionstamp !== versionstamp;
    // The last write is repeated if another write has changed the record, and no consumer was added meanwhile.
    const isRepeated = hasChanged && this.#isOver();
    const continues = isOurs && (!isLast || isRepeated);
    if (!continues) {
      this.#setHeld(undefined);
      return;
    }
    this.#hasMoved = true;
    this.#setHeld({ record: found, versionstamp: entry!.versionstamp, at, triedAt });
    if (hasChanged) this.#adopt(found, record);
  }

  /** Begins consumers that were added before a write of the record, unless they have begun or ended meanwhile. */
  #beginAdded(added: ReadonlySet<Consumer<EventBody>>, record: ConsumerRecord): void {
    for (const consumer of added) {
      if (this.#added.delete(consumer)) this.#begin(consumer, record);
    }
  }

  /** Begins the consumers again whose places an operator has named since `former`. */
  #adopt(found: ConsumerRecord, former: ConsumerRecord): void {
    for (const [name, { named }] of Object.entries(found.places)) {
      if (named === placeIn(former, name)?.named) continue;
      this.#left.delete(name);
      const consumer = this.#consumers.get(name);
      if (consumer === undefined) continue;
      this.#added.delete(consumer);
      this.#begin(consumer, found);
    }
  }

  /** The places of the record, updated by those of this instance, except where an operator has named another since. */
  #places(record: ConsumerRecord): ConsumerRecord["places"] {
    const places = { ...record.places };
    const own = new Map(this.#left);
    for (const { name, place } of this.#consumers.values()) {
      if (place !== undefined) own.set(name, place);
    }
    for (const [name, place] of own) {
      const stored = placeIn(record, name);
      const isMoved = stored !== undefined && stored.named !== place?.named;
      if (place === undefined) delete places[name];
      else if (!isMoved) places[name] = place;
    }
    return places;
  }

  /** Removes a place on whatever instance the consumers work. */
  async #removePlace(name: string): Promise<void> {
    const remove = (found: ConsumerRecord | undefined) => found && withoutConsumer(found, name);
    await this.#change(remove, `The place of ${name} could not be removed`);
  }

  /** Changes the record on whatever instance the consumers work, unless `next` returns what it was given. */
  async #change(
    next: (
      found: ConsumerRecord | undefined,
    ) => ConsumerRecord | undefined | Promise<ConsumerRecord>,
    failure: string,
  ): Promise<void> {
    const { runtime, store } = this.#deps;
    for (let attempt = 0; attempt < CHANGE_ATTEMPTS; attempt++) {
      const entry = await store.get(consumersKey(this.#name));
      const found = decodeConsumerRecord(entry);
      const record = await next(found);
      if (record === undefined || record === found) return;
      if (await this.#write(record, entry?.versionstamp ?? null) !== undefined) return;
      await sleep(runtime, backoffMs(runtime, attempt));
    }
    throw new ServiceError("store_unavailable", failure);
  }

  /** The consumers that are stopped: those of this instance, and others that the record has. */
  #stopped(record: ConsumerRecord, places: ConsumerRecord["places"]): string[] | undefined {
    const known = (record.stopped ?? []).filter((name) => {
      return !this.#consumers.has(name) && !this.#left.has(name);
    });
    const own = this.#consumers.values().filter(({ reason }) => reason !== undefined);
    const stopped = [...known, ...own.map(({ name }) => name)];
    if (stopped.length === 0) return undefined;
    const free = PLACES_LIMIT - Object.keys(places).length;
    const withPlace = stopped.filter((name) => Object.hasOwn(places, name));
    const others = stopped.filter((name) => !Object.hasOwn(places, name));
    return [...withPlace, ...others.slice(0, Math.max(0, free))].sort();
  }

  #begin(consumer: Consumer<EventBody>, record: ConsumerRecord): void {
    consumer.begin({
      tail: this.#tail,
      findPlace: async () => {
        const place = await this.#findPlace(consumer, record);
        if (place === undefined) this.#changed();
        return place;
      },
      isHeld: () => this.#isHeld(this.#held),
      onMoved: () => this.#changed(),
    });
  }

  async #findPlace(
    consumer: Consumer<EventBody>,
    record: ConsumerRecord,
  ): Promise<ConsumerPlace | undefined> {
    const { after, name } = consumer;
    const { head } = await this.#deps.heads.fresh();
    const known = placeIn(record, name);
    if (known === undefined && !this.#hasRoomFor(name, record)) {
      consumer.reason = fullGroupReason(this.#name);
      return undefined;
    }
    if (known === undefined && after < record.since) {
      consumer.reason = noPlaceReason(record.since);
      return undefined;
    }
    const place = known ?? await this.#placeAt(after, head);
    if (place === undefined || !await this.#isInLog(place, head)) {
      consumer.reason = `Its place, position ${place?.position ?? after}, is not in this log`;
      return undefined;
    }
    return place;
  }

  /** Whether the record has room for the place of a consumer, after those that were added before it. */
  #hasRoomFor(name: string, record: ConsumerRecord): boolean {
    const others = this.#consumers.keys().filter((it) => placeIn(record, it) === undefined);
    return Object.keys(record.places).length + [...others].indexOf(name) < PLACES_LIMIT;
  }

  async #placeAt(position: number, head: Head): Promise<ConsumerPlace | undefined> {
    const { application, store } = this.#deps;
    return await placeAt(application, store, position, head);
  }

  async #isInLog({ position, hash }: ConsumerPlace, head: Head): Promise<boolean> {
    return (await this.#placeAt(position, head))?.hash === hash;
  }

  /** Writes the record; `undefined` if it has changed, or if the outcome was unknown at the deadline. */
  async #write(
    record: ConsumerRecord,
    guard: string | null,
    deadline = this.#deps.runtime.monotonicNow() + HOLD_MS,
  ): Promise<Held | undefined> {
    const { runtime, store } = this.#deps;
    const key = consumersKey(this.#name);
    const next = { ...record, write: record.write + 1 };
    const value = encodeConsumerRecord(this.#name, next).slice();
    const commit: Commit = {
      guard: { key, versionstamp: guard },
      mutations: [{ type: "set", key, value }],
    };
    const at = runtime.monotonicNow();
    const outcome = await commitUntilKnown(runtime, {
      guard,
      commit: () => store.commit(commit),
      readGuard: () => store.get(key),
      hasLanded: (entry) => bytesEqual(entry?.value, value),
      isOver: () => runtime.monotonicNow() >= deadline,
    });
    if (outcome.state !== "landed") return undefined;
    return { record: next, versionstamp: outcome.versionstamp!, at, triedAt: at };
  }

  /** Waits for so many milliseconds, or until a place has changed. */
  #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const cancel = this.#deps.runtime.setTimer(ms, resolve);
    return promise.finally(cancel);
  }
}

/** Why a group can have no further place. */
export function fullGroupReason(group: string): string {
  return `The group ${group} has ${PLACES_LIMIT} places: forget one`;
}

function noPlaceReason(since: number): string {
  return `It has no place in this log, which had ${since} events before it, as after a restore`;
}

/** The place of the event at a position; `undefined` if the log has none. */
export async function placeAt(
  application: Application,
  store: Store,
  position: number,
  { position: end }: Head,
): Promise<ConsumerPlace | undefined> {
  if (position === 0) return { position, hash: GENESIS_HASH };
  if (position > end) return undefined;
  const found = await readEventAt(application, store, position);
  return found && { position, hash: sha256Hex(found.line) };
}
