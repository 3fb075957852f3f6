import type { EventBody, EventMetadata } from "../../events/event.ts";
import type { Pet } from "../../events/pet.ts";
import type { Head, HeadEntry } from "../log/head.ts";

/** A request to append events. */
export interface Command {
  /** The pet that the command may change. */
  readonly petId?: number;
  /** The HMAC of the Idempotency-Key. A commit holds one command with it; the others are prepared again after it. */
  readonly idempotencyKey?: string;
  /** Reads what decide() needs besides the head, for each head that is tried. Rejects if the command is refused. */
  prepare(base: HeadEntry): Promise<void> | void;
  /**
   * Returns the events to append after this head. It may run several times, so the ids and times of the events must
   * already be fixed. `changed` is the pet of the command as an earlier command of the same commit leaves it.
   */
  decide(head: Head, changed?: Pet): readonly (EventBody & EventMetadata)[];
}
