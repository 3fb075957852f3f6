import type { EventBody, EventMetadata } from "../../events/event.ts";
import type { Pet } from "../../events/pet.ts";
import type { Head, HeadEntry } from "../log/head.ts";

/** A request to append events. */
export interface Command {
  /** The pet that the command may change. */
  readonly petId?: number;
  /**
   * The HMAC of the request's Idempotency-Key. A commit holds the events of one command with the same value. The others
   * are prepared again after that commit.
   */
  readonly idempotencyKey?: string;
  /**
   * Reads what decide() needs besides the head. Rejects if the command must be refused. The appender
   * calls it on each head that it tries a commit on.
   */
  prepare(base: HeadEntry): Promise<void> | void;
  /**
   * Returns the events to append after this head. It may run several times, so the ids and times of the events must
   * already be fixed. `changed` is the pet of the command as an earlier command of the same commit leaves it.
   */
  decide(head: Head, changed?: Pet): readonly (EventBody & EventMetadata)[];
}
