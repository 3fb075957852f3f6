/** A store of the events of an application, as a stranger opens it: append, read, list, follow. */

import type { Application } from "./application.ts";
import type { Appended, Command } from "./append/command.ts";
import type { Body, EventMetadata, Head, ProjectionKey, RecordedLine } from "./definitions.ts";
import { createInstance, type Instance, type InstanceOptions } from "./instance.ts";
import { GUARD_KEYS, kindPrefix, projectionKey } from "./keyspace.ts";
import { acceptAppends } from "./log/accept_store.ts";
import { OPERATOR } from "./log/actor.ts";
import { eventOf } from "./log/lines.ts";
import { readLog } from "./log/read_log.ts";
import { decodeRecord } from "./projections/project.ts";
import { systemRuntime } from "./runtime/system_runtime.ts";
import { sleep } from "./runtime/runtime.ts";
import { openStore } from "./store/open_store.ts";
import { parseDatabaseUrl } from "./store/postgres/database_url.ts";
import type { StoreLocation } from "./store/store_location.ts";
import type { Store } from "./store/store.ts";

/** Time between two looks for the events of other instances, in milliseconds. */
const LOOK_MS = 250;

/** A command whose events get their ids, their time and their actor from the store. */
export interface Decision<Prepared, EventBody extends Body>
  extends Omit<Command<Prepared, EventBody>, "prepare" | "decide"> {
  /** By default {@linkcode OPERATOR}. */
  actor?: string;
  prepare?(read: (key: ProjectionKey) => Promise<unknown>, head: Head): Promise<Prepared>;
  decide(
    head: Head,
    prepared: Prepared,
  ): readonly (EventBody & Pick<EventMetadata, "predecessor">)[];
}

export type EventStoreOptions<EventBody extends Body> =
  & Partial<Omit<InstanceOptions<EventBody>, "application" | "store">>
  /** Whether a missing file, or the tables in an empty database, are created; by default they are. */
  & { create?: boolean };

/** Opens a file, `:memory:`, or a database by its URL. Rejects with `OpenStoreError`. */
export async function openEventStore<EventBody extends Body>(
  application: Application<EventBody>,
  location: string | StoreLocation,
  { create = true, runtime = systemRuntime, onCommitted, ...options }: EventStoreOptions<
    EventBody
  > = {},
): Promise<EventStore<EventBody>> {
  const store = await openStore(typeof location === "string" ? locationOf(location) : location, {
    program: application.dashedName,
    create,
    accept: (opened) => acceptAppends(application, opened),
    guardKeys: GUARD_KEYS,
    runtime,
  });
  let wake = () => {};
  const instance = createInstance<EventBody>({
    ...options,
    application,
    runtime,
    store,
    onCommitted(committed) {
      wake();
      onCommitted?.(committed);
    },
  });
  return new EventStore(instance, (next) => wake = next);
}

export function locationOf(text: string): StoreLocation {
  if (text === ":memory:") return { kind: "memory" };
  if (/^https?:/.test(text)) return { kind: "kv_connect", address: text };
  if (!/^postgres(ql)?:/.test(text)) return { kind: "file", path: text, isDefault: false };
  const settings = { ...parseDatabaseUrl(text), passfile: undefined, strictReads: false };
  return { kind: "postgres", settings };
}

/** It has what the tools need, so `audit(eventStore)` audits it. */
export class EventStore<EventBody extends Body = Body> implements Instance<EventBody> {
  readonly application: Instance<EventBody>["application"];
  readonly appender: Instance<EventBody>["appender"];
  readonly heads: Instance["heads"];
  readonly runtime: Instance["runtime"];
  readonly store: Instance["store"];
  #committed: Promise<void>;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(instance: Instance<EventBody>, onWake: (wake: () => void) => void) {
    ({
      application: this.application,
      appender: this.appender,
      heads: this.heads,
      runtime: this.runtime,
      store: this.store,
    } = instance);
    this.#committed = this.#nextCommit();
    onWake(() => this.#wake());
  }

  /** Appends the events of a command, exactly once. Rejects as `Appender.append()`. */
  append<Prepared = undefined>(
    { actor = OPERATOR, prepare, decide, ...rest }: Decision<Prepared, EventBody>,
  ): Promise<Appended<Prepared, EventBody>> {
    const { runtime } = this;
    const time = new Date(runtime.now()).toISOString();
    const ids: string[] = [];
    return this.appender.append<Prepared>({
      ...rest,
      prepare: async ({ head }) =>
        await prepare?.((key) => this.#read(this.store, head, key), head) as Prepared,
      decide: (head, prepared) =>
        decide(head, prepared).map((body, index) => {
          ids[index] ??= runtime.newId();
          return { id: ids[index], time, actor, ...body };
        }),
    });
  }

  /** The content of a record, decoded from JSON, with the head as of which it is; `undefined` without one. */
  async read(key: ProjectionKey): Promise<{ head: Head; value: unknown }> {
    const { head, entries: [entry] } = await this.heads.readWith([key]);
    return { head, value: entry === null ? undefined : decodeRecord(this.application, entry) };
  }

  /** The contents of the records of a kind in the order of their keys, with the head as of which they are. */
  async list(
    kind: string,
    { limit = 100, reverse = false }: { limit?: number; reverse?: boolean } = {},
  ): Promise<{ head: Head; values: unknown[] }> {
    return await this.heads.use(async ({ head }) => {
      const prefix = kindPrefix(head.generation, kind);
      const entries = await this.store.list({ prefix }, { limit, reverse });
      return { head, values: entries.map((entry) => decodeRecord(this.application, entry)) };
    });
  }

  /** The events after a position, and all that follow, until the signal aborts or the store is closed. */
  async *follow(
    { after = 0, signal }: { after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<RecordedLine<EventBody>, void> {
    for (let position = after; !this.#isClosed && !signal?.aborted;) {
      const committed = this.#committed;
      const { head } = await this.heads.fresh();
      for await (const lines of readLog(this.store, { from: position + 1, to: head.position })) {
        for (const { line } of lines) {
          yield { event: eventOf(this.application, line)!, line };
        }
      }
      if (head.position === position) await Promise.race([committed, sleep(this.runtime, LOOK_MS)]);
      position = head.position;
    }
  }

  /** Ends it after the commands that were accepted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.appender.drain();
    this.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #nextCommit(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#committed = this.#nextCommit();
        resolve();
      };
    });
  }

  async #read(store: Store, { generation }: Head, key: ProjectionKey): Promise<unknown> {
    const entry = await store.get(projectionKey(generation, key));
    return entry === null ? undefined : decodeRecord(this.application, entry);
  }
}
