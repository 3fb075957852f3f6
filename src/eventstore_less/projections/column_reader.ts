import type { Head, RecordedLine } from "../definitions.ts";
import { kindPrefix, projectionKey } from "../keyspace.ts";
import { readHead } from "../log/head.ts";
import { ServiceError } from "../service_error.ts";
import { scan } from "../store/scan.ts";
import type { Store } from "../store/store.ts";
import { type ColumnEntry, subjectCount } from "../tables.ts";
import { blockOf, BLOCKS, Column } from "./column.ts";
import { contentOf, damagedError, readEvents } from "./project.ts";

/** A column that is behind by more events is read again from its blocks. */
const FOLLOW_LIMIT = 4_096;

/** Events of one read of the log, which take about a millisecond. */
const BATCH = 256;

/** Keeps a column of a store up to date, for the requests and the commits of an instance. */
export class ColumnReader {
  #store: Store;
  #definition: ColumnEntry;
  #column: Column | undefined;
  /** The generation whose blocks were read last. */
  #generation = 0;
  /** Why the column cannot be read, since a position in the log. It is not tried again for some time. */
  #failure: { error: ServiceError; position: number } | undefined;
  #reading: Promise<void> | undefined;

  constructor(store: Store, definition: ColumnEntry) {
    this.#store = store;
    this.#definition = definition;
  }

  /** The column as of a head or later. Rejects with `projection_damaged`. */
  async asOf(head: Head): Promise<Column> {
    if (head.lacksColumns === true) throw this.#lackingError();
    while (!this.#isAsOf(head)) {
      this.#expectNoFailure(head);
      this.#reading ??= this.#read(head).finally(() => this.#reading = undefined);
      await this.#reading;
    }
    return this.#column!;
  }

  /** As asOf(), but `undefined` if the column cannot be known, until a replay repairs its records. */
  async forCommit(head: Head): Promise<Column | undefined> {
    if (head.lacksColumns === true) return undefined;
    try {
      return await this.asOf(head);
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
  }

  /** Adds the lines of a commit of this instance, if they are the next ones. */
  follow(lines: readonly RecordedLine[]): void {
    if (this.#column === undefined) return;
    for (const { event } of lines) {
      if (event.position === this.#column.position + 1) this.#column.add(event);
    }
  }

  #isAsOf({ generation, position }: Head): boolean {
    // The events are the same in each generation.
    return generation <= this.#generation && position <= (this.#column?.position ?? -1);
  }

  #expectNoFailure({ generation, position }: Head): void {
    if (this.#failure === undefined || generation > this.#generation) return;
    if (position < this.#failure.position + FOLLOW_LIMIT) throw this.#failure.error;
  }

  async #read(head: Head): Promise<void> {
    try {
      const column = this.#column;
      const isNear = column !== undefined && head.position - column.position <= FOLLOW_LIMIT;
      if (isNear && head.generation <= this.#generation) {
        await this.#addEvents(column, head.position);
        return;
      }
      await this.#load(head);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#column = undefined;
      this.#generation = head.generation;
      this.#failure = { error, position: head.position };
      throw error;
    }
  }

  /** Reads all blocks, and the events of the log that they may lack. */
  async #load(head: Head): Promise<void> {
    const { generation, position } = head;
    const { collection, kind } = this.#definition;
    const column = new Column(this.#definition, Math.max(0, position - BLOCKS.storedAfter));
    let latest = { block: 0, storedAt: 0 };
    for await (const entries of scan(this.#store, { prefix: kindPrefix(generation, kind) })) {
      for (const entry of entries) {
        const block = entry.key.at(-1) as number;
        const storedAt = column.addBlock(block, contentOf(entry));
        if (storedAt === undefined) throw damagedError(entry.key, "has another content");
        if (storedAt > latest.storedAt) latest = { block, storedAt };
      }
    }
    const { head: newer } = await readHead(this.#store);
    // A replay removes the records of an earlier generation.
    if (newer.generation !== generation) return await this.#load(newer);
    if (latest.storedAt > newer.position) {
      throw this.#blockError(head, latest.block, "is of another log");
    }
    const written = await this.#addEvents(column, newer.position);
    // Those that were due at the head were read.
    const lost = written.find((it) => it.position <= position);
    if (lost !== undefined) throw this.#blockError(head, lost.block, "is an earlier one");
    const unknown = column.firstUnknown(subjectCount(collection, newer));
    if (unknown !== undefined) throw this.#blockError(head, blockOf(unknown), "is missing");
    this.#column = column;
    this.#generation = generation;
    this.#failure = undefined;
  }

  /** Adds the events up to a position. Resolves to the blocks that they store, and the positions of these events. */
  async #addEvents(column: Column, to: number): Promise<{ block: number; position: number }[]> {
    const written: { block: number; position: number }[] = [];
    while (column.position < to) {
      const from = column.position + 1;
      const events = await readEvents(this.#store, from, Math.min(to, from + BATCH - 1));
      for (const event of events) {
        // A commit of this instance may have added it meanwhile.
        if (event.position !== column.position + 1) continue;
        const record = column.add(event);
        if (record === undefined) continue;
        written.push({ block: record.key.at(-1) as number, position: event.position });
      }
    }
    return written;
  }

  #blockError({ generation }: Head, block: number, fault: string): ServiceError {
    return damagedError(projectionKey(generation, [this.#definition.kind, block]), fault);
  }

  #lackingError(): ServiceError {
    const { collection } = this.#definition;
    const message = `The records of blocks of ${collection} are not complete`;
    return new ServiceError("projection_damaged", message, { cause: "run deno task replay" });
  }
}

function isDamage(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === "projection_damaged";
}
