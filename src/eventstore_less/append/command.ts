import type { Body, DecidedEvent, Head, RecordedEvent } from "../definitions.ts";
import type { HeadEntry } from "../log/head.ts";

/** A request to append events. `Prepared` is what it reads before it decides. */
export interface Command<Prepared = unknown, EventBody extends Body = Body> {
  /** Whose command it is, for example the API key. Each owner has its share of the queue and of each plan. */
  readonly owner?: string;
  /** The subject of the event that the command may decide, unless it is a new one. */
  readonly subject?: string;
  /** The HMAC of the Idempotency-Key. A commit holds one command with it; the others are prepared again after it. */
  readonly idempotencyKey?: string;
  /**
   * A commit has at most one command of a group, the first. The next one must read what its events have changed, for
   * example the names of all users, so it waits for the next commit.
   */
  readonly group?: string;
  /** Nothing follows its events in the same commit: they change an API key, which later commands must read. */
  readonly endsCommit?: true;
  /**
   * Reads what decide() needs besides the head, as of a head. Rejects if the command is refused. If a call of the store
   * fails without a `StoreRefusedError`, the command waits and is prepared again. While it reads, commits of this
   * instance may land. It may read only what `subject`, `idempotencyKey`, `group` and `endsCommit` name as changing, so
   * that these say whether it must read again.
   */
  prepare(base: HeadEntry): Promise<Prepared> | Prepared;
  /**
   * May run again, so ids and times must be fixed. `last` is the last event of the subject after the head of prepare(),
   * for example one that the commit already has. If the command then adds nothing, it is prepared again.
   */
  decide(
    head: Head,
    prepared: Prepared,
    last?: RecordedEvent<EventBody>,
  ): readonly DecidedEvent<EventBody>[];
}

/** The outcome of a command: its events, and what it read before it decided them. */
export interface Appended<Prepared = unknown, EventBody extends Body = Body> {
  events: readonly RecordedEvent<EventBody>[];
  prepared: Prepared;
}
