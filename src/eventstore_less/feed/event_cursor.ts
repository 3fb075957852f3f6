import type { HeadEntry } from "../log/head.ts";
import type { EventFeed, FeedEvent, FeedLine, Place } from "./event_feed.ts";
import type { Follower } from "./followers.ts";

/** The choice of a client: events of a type, and events that show a value under the name of the filter. */
export interface EventFilter {
  /** The type of the events; absent for events of all types. */
  type?: string;
  /** Values that an event must show, each with the name of its filter, as `shown()` of its definition gives them. */
  values?: readonly (readonly [name: string, value: unknown])[];
}

/** The number of events, and of bytes, with which a part is complete. */
export interface PartLimits {
  /** Number of events. */
  events: number;
  /** Size of the encoded events, in bytes. */
  bytes: number;
}

/** The part that a client gets of some consecutive lines of the log. */
export interface EventPart {
  /** The events that it wants, each encoded. They share the memory of the feed. */
  texts: Uint8Array[];
  /** Their size. */
  bytes: number;
  /** Number of lines, including those that the client does not want. */
  lineCount: number;
  /** The id of the last line if the client does not want that line. */
  passedId?: string;
}

/** A part when there is nothing new. */
export const NO_LINES: EventPart = { texts: [], bytes: 0, lineCount: 0 };

/** How far a client has read the log. */
export class EventCursor {
  /** The last line that the client knows, or has passed. */
  place: Place;
  #feed: EventFeed;
  #filter: EventFilter;
  #encode: (event: FeedEvent) => Uint8Array;

  /** Begins after a place. `encode` makes the text of an event: `messageOf` or `jsonOf`. */
  constructor(
    feed: EventFeed,
    place: Place,
    filter: EventFilter,
    encode: (event: FeedEvent) => Uint8Array,
  ) {
    this.#feed = feed;
    this.place = place;
    this.#filter = filter;
    this.#encode = encode;
  }

  /** Whether there are more lines up to a head. */
  isBehind({ head }: HeadEntry): boolean {
    return this.place.position < head.position;
  }

  /**
   * Reads the next lines up to a head, and moves behind them. Resolves to a part without lines at the head. Rejects
   * with `feed_reset` if the log is another one now.
   */
  async read(entry: HeadEntry, limits: PartLimits): Promise<EventPart> {
    if (!this.isBehind(entry)) return NO_LINES;
    const lines = await this.#feed.linesAfter(this.place, entry);
    const part = partOf(lines, this.#filter, this.#encode, limits);
    const { position, id } = lines[part.lineCount - 1];
    // Keep the place only, because the event of the line refers to the memory of many lines.
    this.place = { position, id };
    return part;
  }
}

/** The part of the first lines, up to its limits. */
function partOf(
  lines: readonly FeedLine[],
  filter: EventFilter,
  encode: (event: FeedEvent) => Uint8Array,
  limits: PartLimits,
): EventPart {
  const part: EventPart = { texts: [], bytes: 0, lineCount: 0 };
  for (const { id, event } of lines) {
    part.lineCount++;
    if (event === undefined || !isWanted(event, filter)) {
      part.passedId = id;
      continue;
    }
    part.passedId = undefined;
    const text = encode(event);
    part.texts.push(text);
    part.bytes += text.length;
    if (part.texts.length >= limits.events || part.bytes >= limits.bytes) break;
  }
  return part;
}

function isWanted(event: FeedEvent, { type, values = [] }: EventFilter): boolean {
  if (type !== undefined && event.type !== type) return false;
  return values.every(([name, value]) => event.shown[name]?.includes(value));
}

/**
 * Yields the parts that `read` reads by the cursor, until the follower ends. Waits if the cursor has not moved. A part
 * follows each wait, and may be without lines.
 */
export async function* followedParts(
  cursor: EventCursor,
  follower: Follower,
  read: (cursor: EventCursor) => Promise<EventPart>,
): AsyncGenerator<EventPart, void> {
  while (!follower.isEnded) {
    const { position } = cursor.place;
    // Do not keep the part in a variable: it would stay in memory while a slow client or this generator waits
    // (measured). The yield awaits the part.
    yield read(cursor);
    const hasMoved = cursor.place.position > position;
    if (!hasMoved) await follower.wait();
  }
}
