/** The beginning of an export: up to a position, or up to a time. */

import { joinLines } from "../../encoding/pack_lines.ts";
import { eventOf, splitLines } from "../../log/lines.ts";
import type { Application } from "../../application.ts";
import { RefusedError } from "../refused_error.ts";
import type { Export } from "../tool_store.ts";

/** Yields only the first lines of an export. */
export async function* firstLines(source: Export, count: number): AsyncGenerator<Uint8Array> {
  let rest = count;
  for await (const lines of splitLines(source())) {
    yield joinLines(lines.slice(0, rest));
    rest -= lines.length;
    if (rest <= 0) return;
  }
}

/** The end of the part of an export that is not later than a time. */
export interface EndOfTime {
  /** The last position before the first event of a later time. */
  position: number;
  /** The time of that event; `undefined` if there is none. */
  laterTime?: string;
  /** Number of events after it that are not of a later time. */
  earlierAfter: number;
}

/**
 * Finds the longest beginning of an export whose events are all of that time, in ISO 8601, or before. Rejects with
 * `RefusedError` if it is empty.
 */
export async function findEndOfTime(
  application: Application,
  source: Export,
  until: string,
): Promise<EndOfTime> {
  const end: EndOfTime = { position: 0, earlierAfter: 0 };
  for await (const lines of splitLines(source())) {
    for (const line of lines) {
      const time = eventOf(application, line)?.time;
      const isLater = time !== undefined && time > until;
      if (isLater) end.laterTime ??= time;
      if (end.laterTime === undefined) end.position++;
      else if (time !== undefined && !isLater) end.earlierAfter++;
    }
  }
  if (end.position > 0) return end;
  throw new RefusedError(
    "export_too_short",
    `The first event is of ${end.laterTime}, after ${until}`,
  );
}
