import type { Body, DecidedEvent, Head, ProjectionKey, Recorded } from "../definitions.ts";
import type { HeadEntry } from "../log/head.ts";

/** A request to an Appender. `EventStore.append()` makes it. `Prepared` is what it reads before it decides. */
export interface Command<Prepared = unknown, EventBody extends Body = Body> {
  /** Whose command it is. Each owner has its share of the queue and of each plan. */
  readonly owner?: string;
  /** The subject of the event that the command may decide, unless it is a new one. */
  readonly subject?: string;
  /** The hash of the Idempotency-Key. A commit holds one command with it; the others are prepared again after it. */
  readonly idempotencyKey?: string;
  /**
   * A commit has at most one command of a group, the first. The next one must read what its events have changed, for
   * example the names of all users, so it waits for the next commit.
   */
  readonly group?: string;
  /** Commands of a sequence have one owner, and are decided and stored in the order in which they were given. */
  readonly sequence?: symbol;
  /** Nothing follows its events in the same commit, because they change what every command reads. */
  readonly endsCommit?: true;
  /**
   * Reads what decide() needs besides the head, as of a head. Rejects if the command is refused. If a call of the store
   * fails without a `StoreRefusedError`, the command waits and is prepared again. While it reads, commits of this
   * instance may land. It may read only what it notes, or what `subject`, `idempotencyKey`, `group` and `endsCommit` name
   * as changing, so that these say whether it must read again.
   */
  prepare(base: HeadEntry, reads: ReadNotes): Promise<Prepared> | Prepared;
  /**
   * May run again, so ids and times must be fixed. `last` is the last event of the subject after the head of prepare(),
   * for example one that the commit already has. If the command then adds nothing, it is prepared again.
   */
  decide(
    head: Head,
    prepared: Prepared,
    last?: Recorded<EventBody>,
  ): readonly DecidedEvent<EventBody>[];
}

/** Takes notes of what a command reads. */
export interface ReadNotes {
  /** Notes a record before it is read, so that a commit that writes the record ends the preparation. */
  noteRead(key: ProjectionKey): void;
  /** Notes a list before it is read: all records whose keys begin with the prefix. */
  noteList(prefix: ProjectionKey): void;
}

/** The outcome of a command: its events, and what it read before it decided them. */
export interface Appended<Prepared = unknown, EventBody extends Body = Body> {
  /** The events, as the log has them; none if nothing changes. */
  events: readonly Recorded<EventBody>[];
  /** The result of prepare(). */
  prepared: Prepared;
}
