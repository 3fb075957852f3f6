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

/** The end of the part of an export before a time. */
export interface EndOfTime {
  /** The last position before the first event that is not of an earlier time. */
  position: number;
  /** The time of that event; `undefined` if there is none. */
  nextTime?: string;
  /** Number of events after it that are of an earlier time. */
  earlierAfter: number;
}

/**
 * Finds the longest beginning of an export whose events are all before that time, in ISO 8601. Rejects with
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
      const isEarlier = time !== undefined && time < until;
      if (time !== undefined && !isEarlier) end.nextTime ??= time;
      if (end.nextTime === undefined) end.position++;
      else if (isEarlier) end.earlierAfter++;
    }
  }
  if (end.position > 0) return end;
  throw new RefusedError(
    "export_too_short",
    `The first event is of ${end.nextTime}, not before ${until}`,
  );
}
