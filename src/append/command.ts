import type { EventBody, EventMetadata } from "../../events/event.ts";
import type { Head } from "../log/head.ts";

/** A request to append events. */
export interface Command {
  /**
   * Reads what decide() needs besides the head. Rejects if the command must be refused. The appender
   * calls it before decide(), and again if another instance has moved the head since.
   */
  prepare(head: Head): Promise<void> | void;
  /**
   * Whether prepare() finishes synchronously on this head, from memory. If this method is absent, the appender
   * assumes that it does not.
   */
  isPreparedAtOnce?(head: Head): boolean;
  /**
   * Returns the events to append after this head. It may run several times, so the ids and times of
   * the events must already be fixed.
   */
  decide(head: Head): readonly (EventBody & EventMetadata)[];
}
