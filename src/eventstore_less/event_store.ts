/** A store of the events of an application: append, read, list, follow. */

import { APPEND_LIMIT_MS, Appender, type Committed } from "./append/appender.ts";
import type { Application, EventBodyOf } from "./application.ts";
import { Consumer, type ConsumerHandler, type ConsumerOptions } from "./consumers/consumer.ts";
import { ConsumerGroup, type ConsumerHandle } from "./consumers/consumer_group.ts";
import { CONSUMER_NAME, groupOf } from "./consumers/consumer_record.ts";
import type { Body, Head, ProjectionKey, Recorded, RecordedLine } from "./definitions.ts";
import { commandOf, type EventCommand } from "./event_command.ts";
import { BackgroundWork } from "./feed/background_work.ts";
import { IdempotencyKeySweep } from "./idempotency/idempotency_key_sweep.ts";
import { GUARD_KEYS, HEAD_KEY } from "./keyspace.ts";
import { acceptAppends } from "./log/accept_store.ts";
import { HeadReader } from "./log/head_reader.ts";
import { eventOf } from "./log/lines.ts";
import { LogDamagedError, readLog } from "./log/read_log.ts";
import {
  expectRecordKey,
  listRequestOf,
  type RecordList,
  recordListOf,
  type RecordListOptions,
  storeOptionsOf,
  valueOf,
} from "./record_reader.ts";
import { type Instrumentation, NO_INSTRUMENTATION } from "./runtime/instrumentation.ts";
import type { Logger } from "./runtime/logger.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { systemRuntime } from "./runtime/system_runtime.ts";
import { ServiceError } from "./service_error.ts";
import { locateStore } from "./store/locate_store.ts";
import { openStore } from "./store/open_store.ts";
import { parseDatabaseUrl } from "./store/postgres/database_url.ts";
import { ResilientStore } from "./store/resilience/resilient_store.ts";
import type { Store } from "./store/store.ts";
import { watchFile } from "./store/sqlite/store_file.ts";
import type { FileLocation, StoreLocation } from "./store/store_location.ts";

/** Time between two looks for the events of other instances, in milliseconds. */
const LOOK_MS = 250;

/** How an {@linkcode EventStore} works. */
export interface EventStoreOptions<EventBody extends Body = Body> {
  /** Clocks, timers, random numbers and ids; by default those of the machine. */
  runtime?: Runtime;
  /** Gets what an operator should know; by default, nothing is reported. */
  report?: Logger;
  /** By default, nothing is measured. */
  instrumentation?: Instrumentation;
  /** The longest wait of a command for its outcome, in milliseconds; by default {@linkcode APPEND_LIMIT_MS}. */
  appendLimitMs?: number;
  /** Called after every commit of this instance that landed. */
  onCommitted?(committed: Committed<EventBody>): void;
}

/** What {@linkcode openEventStore} does besides. */
export interface OpenEventStoreOptions<EventBody extends Body = Body>
  extends EventStoreOptions<EventBody> {
  /** Whether a missing file, or the tables in an empty database, are created; by default they are. */
  create?: boolean;
}

/** The store of an application, for the parameters of functions: `StoreOf<typeof application>`. */
export type StoreOf<Of> = EventStore<EventBodyOf<Of>>;

/** An instance of the engine on a store, as the tools need it. */
export type Instance<EventBody extends Body = Body> = Pick<
  EventStore<EventBody>,
  "application" | "appender" | "heads" | "runtime" | "store"
>;

/** The outcome of a command. */
export type Outcome<Prepared, EventBody extends Body> =
  | {
    /** The events of the command, as the log has them; none if nothing changes. */
    events: readonly Recorded<EventBody>[];
    /** What the command has read before it decided. */
    prepared: Prepared;
    isDuplicate: false;
  }
  | {
    /** The events of the first command with this Idempotency-Key. */
    events: readonly Recorded<EventBody>[];
    prepared?: undefined;
    isDuplicate: true;
  };

/** Which events to follow. */
export interface FollowOptions<EventBody extends Body = Body> {
  /** The position after which the events begin; by default 0, before the first one. */
  after?: number;
  /** The types of the events; by default all. */
  types?: readonly EventBody["type"][];
  /** Ends the iteration. */
  signal?: AbortSignal;
}

/**
 * Opens a store at a location: `:memory:`, the path of a file, the URL of a PostgreSQL database (`postgres://…`), the
 * http(s) address of KV Connect, a {@linkcode StoreLocation}, or a store that is open. Rejects with `OpenStoreError`.
 */
export async function openEventStore<EventBody extends Body>(
  application: Application<EventBody>,
  location: string | StoreLocation | Store,
  { create = true, ...options }: OpenEventStoreOptions<EventBody> = {},
): Promise<EventStore<EventBody>> {
  const accept = (opened: Store) => acceptAppends(application, opened);
  if (typeof location !== "string" && "commit" in location) {
    await accept(location);
    return startedStore(new EventStore(application, location, options));
  }
  const located = typeof location === "string" ? locationOf(location) : location;
  const store = await openStore(located, {
    program: application.dashedName,
    create,
    accept,
    guardKeys: GUARD_KEYS,
    runtime: options.runtime ?? systemRuntime,
  });
  const eventStore = startedStore(new EventStore(application, store, options));
  if (located.kind === "file") await eventStore.watchFile(located);
  return eventStore;
}

function startedStore<EventBody extends Body>(
  eventStore: EventStore<EventBody>,
): EventStore<EventBody> {
  eventStore.startSweep();
  return eventStore;
}

/** The location that a text names. Throws `OpenStoreError`, and as `parseDatabaseUrl()` does. */
export function locationOf(text: string): StoreLocation {
  if (text === ":memory:") return { kind: "memory" };
  if (/^https?:/.test(text)) return { kind: "kv_connect", address: text };
  if (!/^postgres(ql)?:/.test(text)) {
    return locateStore({ kind: "named_file", name: text, isDefault: false });
  }
  const settings = { ...parseDatabaseUrl(text), passfile: undefined, strictReads: false };
  return { kind: "postgres", settings };
}

/**
 * An instance of the engine on a store. Others may work on the same store, in this process or in another one. It has what
 * the tools need, so `audit(eventStore)` audits it.
 */
export class EventStore<EventBody extends Body = Body> {
  /** The application whose events it has. */
  readonly application: Application<EventBody>;
  /** Appends the events. Programs call {@linkcode EventStore.append}. */
  readonly appender: Appender<EventBody>;
  /** Reads the head of the log, and records as of a head. */
  readonly heads: HeadReader;
  /** Its clocks, timers, random numbers and ids. */
  readonly runtime: Runtime;
  /** The store, with a time limit on every call. */
  readonly store: ResilientStore;
  readonly #report: Logger;
  /** Ends the waits for the next commit. */
  readonly #wakers = new Set<() => void>();
  readonly #groups = new Map<string, ConsumerGroup<EventBody>>();
  #sweep: IdempotencyKeySweep | undefined;
  #stopWatch = () => {};
  #closed: Promise<void> | undefined;

  /** Call {@linkcode openEventStore}, unless the store was accepted for appends in another way. */
  constructor(
    application: Application<EventBody>,
    opened: Store,
    options: EventStoreOptions<EventBody> = {},
  ) {
    const { runtime = systemRuntime, report = () => {} } = options;
    const { instrumentation = NO_INSTRUMENTATION, appendLimitMs = APPEND_LIMIT_MS } = options;
    const common = { runtime, report, instrumentation };
    const store = new ResilientStore(opened, { ...common, probeKey: HEAD_KEY });
    const heads = new HeadReader(application, store, runtime, report);
    this.application = application;
    this.heads = heads;
    this.runtime = runtime;
    this.store = store;
    this.#report = report;
    this.appender = new Appender<EventBody>({
      ...common,
      application,
      appendLimitMs,
      store,
      heads,
      onCommitted: (committed) => {
        this.#wakeFollowers();
        options.onCommitted?.(committed);
      },
    });
  }

  /**
   * Appends the events of a command exactly once. Rejects with the error that the command throws, with `TypeError` or
   * `RangeError` if the log could not hold one of its events, with `projection_damaged` if a record does not follow from
   * the log, or with `overloaded`, `shutting_down`, `storage_full` or `store_unavailable`: then nothing was stored. With
   * `outcome_unknown`, perhaps it was, and only an Idempotency-Key makes it safe to repeat the command.
   */
  async append<Prepared = undefined>(
    command: EventCommand<Prepared, EventBody>,
  ): Promise<Outcome<Prepared, EventBody>> {
    const { events, prepared: read } = await this.appender.append(commandOf(this, command));
    const { earlier, prepared } = read;
    if (earlier.length > 0) return { events: earlier, isDuplicate: true };
    return { events, prepared: prepared as Prepared, isDuplicate: false };
  }

  /**
   * The content of a record, decoded from JSON, with the head as of which it is; `undefined` without a record. Integers
   * over 2^53 are `bigint`. Rejects with `RangeError` if no record can have the key, and with `projection_damaged`.
   */
  async read(key: ProjectionKey): Promise<{ head: Head; value: unknown }> {
    expectRecordKey(this.application, key);
    const { head, entries: [entry] } = await this.heads.readWith([key]);
    return { head, value: valueOf(this.application, entry) };
  }

  /**
   * The records of a kind in the order of their keys, with the head as of which they are. Texts sort before numbers, and by
   * their UTF-8 bytes. Rejects with `RangeError` for an unknown kind, and for options that the kind does not have.
   */
  async list(kind: string, options: RecordListOptions = {}): Promise<RecordList & { head: Head }> {
    const request = listRequestOf(this.application, kind, options);
    const { head, lists: [entries] } = await this.heads.readWith(
      [],
      [request.range],
      storeOptionsOf(request),
    );
    return { head, ...recordListOf(this.application, request, entries) };
  }

  /**
   * The events after a position, and all that follow, until the signal aborts or the store is closed. Throws `RangeError`
   * for a position or a type that cannot be. The iteration rejects with `feed_reset` if the log does not reach that
   * position, as after a restore of an older backup: then read everything again. If the store is away, it rejects with
   * `store_unavailable`: follow again after the last position.
   */
  follow(
    { after = 0, types, signal }: FollowOptions<EventBody> = {},
  ): AsyncGenerator<RecordedLine<EventBody>, void> {
    this.#expectChoice(after, types);
    return this.#follow(after, types && new Set(types), signal);
  }

  #expectChoice(after: number, types: readonly string[] | undefined): void {
    if (!Number.isSafeInteger(after) || after < 0) {
      throw new RangeError(`after must be a position in the log, and is ${after}`);
    }
    const unknown = types?.find((type) => !Object.hasOwn(this.application.events, type));
    if (unknown !== undefined) {
      throw new RangeError(`The application has no event type ${JSON.stringify(unknown)}`);
    }
  }

  async *#follow(
    after: number,
    types: ReadonlySet<string> | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<RecordedLine<EventBody>, void> {
    const isOver = () => this.#closed !== undefined || signal?.aborted === true;
    for (let position = after; !isOver();) {
      const { head } = await this.heads.fresh();
      if (head.position < position) throw feedResetError(position, head);
      for await (const lines of readLog(this.store, { from: position + 1, to: head.position })) {
        for (const { position: at, line } of lines) {
          if (isOver()) return;
          const event = eventOf(this.application, line);
          if (event?.position !== at) throw new LogDamagedError(at, "is not an event");
          if (types === undefined || types.has(event.type)) yield { event, line };
        }
      }
      if (head.position === position) await this.#waitForCommit(position, signal);
      position = head.position;
    }
  }

  /** Resolves after the next commit of this instance, after some time, or when the iteration is over. */
  #waitForCommit(position: number, signal: AbortSignal | undefined): Promise<void> {
    const isBehind = this.heads.latest!.head.position > position;
    if (isBehind || this.#closed !== undefined || signal?.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const cancel = this.runtime.setTimer(LOOK_MS, wake);
    this.#wakers.add(wake);
    signal?.addEventListener("abort", wake);
    return promise.finally(() => {
      cancel();
      this.#wakers.delete(wake);
      signal?.removeEventListener("abort", wake);
    });
  }

  /**
   * Gives a handler the events of the log in order, each at least once, on one instance at a time, and remembers its place
   * in the store. Every instance calls it with the same name; if the instance that works ends, another one takes over
   * within some twelve seconds. Consumers whose names begin alike, up to a `/`, work on the same instance. Throws
   * `RangeError` for a name that no consumer can have or that this instance has already, and as
   * {@linkcode EventStore.follow} does; `shutting_down` after {@linkcode EventStore.close}.
   */
  consume(
    name: string,
    handle: ConsumerHandler<EventBody>,
    options: ConsumerOptions<EventBody> = {},
  ): ConsumerHandle {
    if (this.#closed !== undefined) {
      throw new ServiceError("shutting_down", "The store is closed");
    }
    this.#expectChoice(options.after ?? 0, options.types);
    expectConsumerName(name);
    return this.#group(groupOf(name)).add(new Consumer(name, handle, options, this.runtime));
  }

  /**
   * Makes the record of a group of consumers in the store unless it is there. A consumer of the group whose `after` is not
   * before the present end of the log then begins without a place, although the store had events before. Rejects with
   * `store_unavailable`, with an error of the store, and with `RangeError` for a name that no group can have.
   */
  async registerConsumers(group: string): Promise<void> {
    if (!CONSUMER_NAME.test(group) || groupOf(group) !== group) {
      throw new RangeError(`A group of consumers cannot have the name ${JSON.stringify(group)}`);
    }
    await this.#group(group).register();
  }

  /**
   * Lets a consumer continue after a position, on whatever instance it works, as `placeConsumer()` of the tools does for
   * operators. Rejects with `RangeError` if the log has no such position or the group has no room, and otherwise as
   * {@linkcode EventStore.registerConsumers} does.
   */
  async placeConsumer(name: string, position: number): Promise<void> {
    expectConsumerName(name);
    await this.#group(groupOf(name)).place(name, position);
  }

  /**
   * Whether a consumer whose `after` is that position is stopped until its place is named, because it has none and the log
   * is older than the record of its group. Rejects as {@linkcode EventStore.registerConsumers} does.
   */
  async needsPlace(name: string, after: number): Promise<boolean> {
    expectConsumerName(name);
    return await this.#group(groupOf(name)).needsPlace(name, after);
  }

  /**
   * Ends the pause of a consumer after a failure, on whatever instance it works. What it has handled since its place was
   * stored comes again. Rejects as {@linkcode EventStore.registerConsumers} does.
   */
  async retryConsumer(name: string): Promise<void> {
    expectConsumerName(name);
    await this.#group(groupOf(name)).retry(name);
  }

  /** Removes the place of a consumer that no instance has any more. Rejects as {@linkcode EventStore.registerConsumers} does. */
  async forgetConsumer(name: string): Promise<void> {
    expectConsumerName(name);
    await this.#group(groupOf(name)).forget(name);
  }

  /**
   * Ends all consumers of this instance, so that another one can work. Handlers have two seconds to end their calls.
   * Resolves when the places are stored.
   */
  async stopConsumers(): Promise<void> {
    await Promise.all(this.#groups.values().map((group) => group.close()));
  }

  #group(name: string): ConsumerGroup<EventBody> {
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    const { application, heads, runtime, store } = this;
    const waitForCommit = (position: number) => this.#waitForCommit(position, undefined);
    const deps = { application, heads, runtime, store, waitForCommit };
    const group = new ConsumerGroup<EventBody>(name, deps);
    this.#groups.set(name, group);
    return group;
  }

  #wakeFollowers(): void {
    for (const wake of this.#wakers) wake();
  }

  /** Begins to remove the records of Idempotency-Keys some time after they have expired. `openEventStore()` calls it. */
  startSweep(): void {
    const { application, appender, heads, runtime, store } = this;
    this.#sweep ??= new IdempotencyKeySweep({
      application,
      background: new BackgroundWork(runtime),
      heads,
      runtime,
      report: this.#report,
      store,
      isStoreSound: () => appender.fault === undefined && store.damage === undefined,
    });
    this.#sweep.start();
  }

  /**
   * Rejects commands while the path of the store leads to another file than the one that is open, because what is stored
   * then would vanish with the process. `openEventStore()` calls it.
   */
  async watchFile(location: FileLocation): Promise<void> {
    this.#stopWatch = await watchFile(location, this.runtime, this.#report, (fault) => {
      this.appender.suspension = fault;
    });
  }

  /** Ends the iterations, and closes the store after all commands that were accepted have their outcomes. */
  close(): Promise<void> {
    if (this.#closed !== undefined) return this.#closed;
    this.#closed = this.#close(this.appender.drain());
    this.#wakeFollowers();
    return this.#closed;
  }

  async #close(drained: Promise<void>): Promise<void> {
    await this.stopConsumers();
    await drained;
    await this.#sweep?.stop();
    this.#stopWatch();
    this.store.close();
  }

  /** The same as close(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function expectConsumerName(name: string): void {
  if (CONSUMER_NAME.test(name)) return;
  throw new RangeError(`A consumer cannot have the name ${JSON.stringify(name)}`);
}

function feedResetError(after: number, { position }: Head): ServiceError {
  const message = `The log ends at position ${position}, before position ${after}: read all again`;
  return new ServiceError("feed_reset", message);
}
