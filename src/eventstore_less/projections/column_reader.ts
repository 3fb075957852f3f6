import type { Head, RecordedLine } from "../definitions.ts";
import { type Logger, reasonOf } from "../../runtime/logger.ts";
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

/** A damaged column is read again after so many further events. */
const RETRY_AFTER = 4_096;

/** Events of one read of the log, which take about a millisecond. */
const BATCH = 256;

/** Keeps a column of a store up to date, for the requests and the commits of an instance. */
export class ColumnReader {
  #store: Store;
  #definition: ColumnEntry;
  #report: Logger;
  #column: Column | undefined;
  /** The generation whose blocks were read last, or could not be read. */
  #generation = 0;
  /** Why the column could not be read, and the position of the head then. */
  #failure: { error: ServiceError; position: number } | undefined;
  #reading: Promise<void> | undefined;

  constructor(store: Store, definition: ColumnEntry, report: Logger) {
    this.#store = store;
    this.#definition = definition;
    this.#report = report;
  }

  /** The column as of a head or later. Rejects with `projection_damaged`. */
  async asOf(head: Head): Promise<Column> {
    if (head.lacksColumns === true) throw this.#lackingError();
    while (!this.#isAsOf(head)) {
      this.#expectNoFailure(head);
      if (this.#reading === undefined) this.#reading = this.#readOnce(head);
      await this.#reading;
    }
    return this.#column!;
  }

  /** As asOf(), but `undefined` if the column is damaged. Then the commit says so in the head. */
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
      if (this.#column.isNext(event)) this.#column.add(event);
    }
  }

  #isAsOf({ generation, position }: Head): boolean {
    // A new generation may have repaired blocks, so they must be read again. The log is the same.
    const isOfGeneration = generation <= this.#generation;
    const hasEvents = this.#column !== undefined && position <= this.#column.position;
    return isOfGeneration && hasEvents;
  }

  #expectNoFailure({ generation, position }: Head): void {
    if (this.#failure === undefined || generation > this.#generation) return;
    if (position < this.#failure.position + RETRY_AFTER) throw this.#failure.error;
  }

  /** Notes a damage, which concerns a request only if its head is not of a later generation: asOf() tells. */
  async #readOnce(head: Head): Promise<void> {
    try {
      await this.#read(head);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#column = undefined;
      this.#generation = head.generation;
      this.#failure = { error, position: head.position };
      const { collection } = this.#definition;
      this.#report("error", "column_damaged", { collection, reason: reasonOf(error) });
    } finally {
      this.#reading = undefined;
    }
  }

  async #read(head: Head): Promise<void> {
    const column = this.#column;
    const isNear = column !== undefined && head.position - column.position <= FOLLOW_LIMIT;
    if (isNear && head.generation <= this.#generation) await this.#addEvents(column, head.position);
    else await this.#load(head);
  }

  /** Reads all blocks, and the events of the log that they may lack. */
  async #load(head: Head): Promise<void> {
    const column = new Column(
      this.#definition,
      Math.max(0, head.position - BLOCKS.storedAfter),
    );
    const latest = await this.#addBlocks(column, head);
    const { head: newer } = await readHead(this.#store);
    // A replay has ended meanwhile, so some blocks may have been removed before they were read.
    if (newer.generation !== head.generation) return await this.#load(newer);
    if (latest.storedAt > newer.position) {
      throw this.#blockError(head, latest.block, "is of another log");
    }
    await this.#addEvents(column, newer.position);
    const unknown = column.firstUnknown(subjectCount(this.#definition.collection, newer));
    if (unknown !== undefined) {
      throw this.#blockError(head, blockOf(unknown), "is missing, or an earlier one");
    }
    this.#column = column;
    this.#generation = head.generation;
    this.#failure = undefined;
  }

  /** Adds the stored blocks. Resolves to the one that was stored last, and the position of the event that stored it. */
  async #addBlocks(column: Column, { generation }: Head) {
    const blocks = { prefix: kindPrefix(generation, this.#definition.kind) };
    let latest = { block: 0, storedAt: 0 };
    for await (const entries of scan(this.#store, blocks)) {
      for (const entry of entries) {
        const block = entry.key.at(-1) as number;
        const storedAt = column.addBlock(block, contentOf(entry));
        if (storedAt === undefined) throw damagedError(entry.key, "is not a block");
        if (storedAt > latest.storedAt) latest = { block, storedAt };
      }
    }
    return latest;
  }

  /** Adds the events up to a position. */
  async #addEvents(column: Column, to: number): Promise<void> {
    while (column.position < to) {
      const from = column.position + 1;
      const events = await readEvents(this.#store, from, Math.min(to, from + BATCH - 1));
      for (const event of events) {
        // A commit of this instance may have added others meanwhile.
        if (column.isNext(event)) column.add(event);
      }
    }
  }

  #blockError({ generation }: Head, block: number, fault: string): ServiceError {
    return damagedError(projectionKey(generation, [this.#definition.kind, block]), fault);
  }

  #lackingError(): ServiceError {
    const message = `The blocks of ${this.#definition.collection} are not complete`;
    return new ServiceError("projection_damaged", message, { cause: "run deno task replay" });
  }
}

function isDamage(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === "projection_damaged";
}
