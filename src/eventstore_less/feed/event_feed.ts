import type { Application } from "../application.ts";
import type { Head, RecordedLine } from "../definitions.ts";
import { sequenceOf } from "../log/line_text.ts";
import { encodePublicEvent } from "../log/event.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { type EncodedText, TextBuffer } from "../encoding/text_buffer.ts";
import type { HeadEntry } from "../log/head.ts";
import { eventOf } from "../log/lines.ts";
import { LogDamagedError, readEventAt, readLog } from "../log/read_log.ts";
import { BoundedCache } from "../runtime/bounded_cache.ts";
import type { BackgroundWork } from "./background_work.ts";
import { ServiceError } from "../service_error.ts";
import type { Store } from "../store/store.ts";

/** Number of positions in a segment: a part of the log that is cached as one. */
export const SEGMENT_LENGTH = 256;

/** Number of cached segments. One of ordinary events takes some 200 KB, and one of the longest some 6 MB. */
const SEGMENTS_LIMIT = 8;

/** Digits of the position and of the hash of a line in an id. */
const POSITION_DIGITS = sequenceOf(0).length;
const HASH_DIGITS = 16;

/** Matches the id of a {@linkcode Place}: a position, and the beginning of the hash of its line. */
export const FEED_ID_PATTERN: RegExp = new RegExp(
  `^\\d{${POSITION_DIGITS}}-[0-9a-f]{${HASH_DIGITS}}$`,
);

/** A place in the log: a line that a client has read or passed, or the beginning. */
export interface Place {
  /** Position of the line; 0 at the beginning of the log. */
  position: number;
  /** The position, and a part of the hash of the line. So a place in another history can be recognised. */
  id: string;
}

/** A line of the log as clients see it. */
export interface FeedLine extends Place {
  /** Absent if the feed does not show events of its type. */
  event?: FeedEvent;
}

/** An event as clients see it. */
export interface FeedEvent {
  /** The type of the event. */
  type: string;
  /** Who gave the command. The message does not say it. */
  actor: string;
  /** The values by which a follower can select the event, by the name of the filter. */
  shown: Record<string, readonly unknown[]>;
  /** The event as a message of an event stream. */
  message: EncodedText;
  /** The offset in the message at which the CloudEvent begins as JSON, on one line. */
  jsonStart: number;
}

/** The end of a message of an event stream. */
const MESSAGE_END = "\n\n";

/** Consecutive lines, and the id of the line before them. */
interface Segment {
  before: string;
  lines: FeedLine[];
  /** The messages of the lines. */
  texts: TextBuffer;
  /** The read under way; all callers that need more lines share it. */
  reading?: Promise<void>;
}

/**
 * The events that clients see. Each follower reads at its own pace, so nothing is kept for it. All share the segments
 * that were read lately.
 */
export class EventFeed {
  #application: Application;
  #store: Store;
  #background: BackgroundWork;
  /** The segments by their numbers, ordered by last use. */
  #segments = new BoundedCache<Segment>(SEGMENTS_LIMIT);
  #lastRead: Promise<unknown> = Promise.resolve();

  /** Reads the log of a store. Readers that catch up take turns as background work. */
  constructor(application: Application, store: Store, background: BackgroundWork) {
    this.#application = application;
    this.#store = store;
    this.#background = background;
  }

  /**
   * The place before the first event that is not older than a time, by binary search. The times in the log are those of
   * its writers' clocks, so an event may be before or after that place by as much as these differ.
   */
  async placeBefore(time: number, { head }: HeadEntry): Promise<Place> {
    let place = feedPositionOf(head);
    let first = 1;
    let last = head.position;
    while (first <= last) {
      const position = Math.floor((first + last) / 2);
      const event = await this.#eventAt(position);
      if (Date.parse(event.time) < time) {
        first = position + 1;
      } else {
        last = position - 1;
        place = feedPositionOf({ position: last, lastHash: event.previousHash });
      }
    }
    return place;
  }

  /** The place after which the log up to a head has so many lines, or the beginning. */
  async placeFromEnd(lineCount: number, { head }: HeadEntry): Promise<Place> {
    const position = Math.max(0, head.position - lineCount);
    if (position === head.position) return feedPositionOf(head);
    const { previousHash } = await this.#eventAt(position + 1);
    return feedPositionOf({ position, lastHash: previousHash });
  }

  /** Rejects with `feed_reset` if the log up to a head has no such place. Does not wait for followers that catch up. */
  async expectPlace(place: Place, entry: HeadEntry): Promise<void> {
    if (!isBehind(place, entry)) {
      await this.linesAfter(place, entry);
      return;
    }
    const { position, id } = place;
    // Read one record only: a read of lines would also read later lines, outside of the turns.
    const { previousHash } = await this.#eventAt(position + 1);
    expectSameId(id, feedId(position, previousHash));
  }

  async #eventAt(position: number): Promise<RecordedLine["event"]> {
    const found = await readEventAt(this.#application, this.#store, position);
    if (found === undefined) throw unreadableError(position, position);
    return found.event;
  }

  /** At most {@linkcode SEGMENT_LENGTH} lines after a place, up to a head. Rejects with `feed_reset` as expectPlace(). */
  async linesAfter(place: Place, entry: HeadEntry): Promise<readonly FeedLine[]> {
    const { position, id } = place;
    const { head } = entry;
    if (position >= head.position) {
      expectSameId(id, feedPositionOf(head).id);
      return [];
    }
    const inBackground = isBehind(place, entry);
    const number = Math.floor(position / SEGMENT_LENGTH);
    const start = number * SEGMENT_LENGTH;
    const end = Math.min(head.position, start + SEGMENT_LENGTH);
    const segment = this.#use(number);
    while (start + segment.lines.length < end) {
      segment.reading ??= this.#startReading(segment, start, end, inBackground);
      await segment.reading;
    }
    const { before, lines } = segment;
    const idInLog = position === start ? before : lines[position - start - 1].id;
    expectSameId(id, idInLog);
    if (inBackground) await this.#background.turn("events");
    return lines.slice(position - start, end - start);
  }

  /**
   * Returns the segment with a number, and makes it the newest of the cache. Readers keep a segment that the cache
   * drops.
   */
  #use(number: number): Segment {
    const segment = this.#segments.get(number) ?? newSegment();
    return this.#segments.set(number, segment);
  }

  /** Reads lines of a segment up to a position, after other reads if in the background. */
  #startReading(
    segment: Segment,
    start: number,
    end: number,
    inBackground: boolean,
  ): Promise<void> {
    const extend = () => this.#extend(segment, start, end, inBackground);
    return inBackground ? this.#inTurn(extend) : extend();
  }

  /** Runs one read after the other, because those that are not finished take memory. */
  #inTurn(read: () => Promise<void>): Promise<void> {
    const reading = this.#lastRead.then(read);
    this.#lastRead = reading.catch(() => {});
    return reading;
  }

  async #extend(
    segment: Segment,
    start: number,
    end: number,
    inBackground: boolean,
  ): Promise<void> {
    try {
      await this.#readOn(segment, start, end, inBackground);
    } finally {
      segment.reading = undefined;
    }
  }

  async #readOn(
    segment: Segment,
    start: number,
    end: number,
    inBackground: boolean,
  ): Promise<void> {
    const last = start + segment.lines.length;
    const { before, lines } = await this.#read(last + 1, end, segment.texts, inBackground);
    const known = this.#lastKnown(segment, start);
    const isRolledBack = known?.position === last && known.id !== before;
    if (isRolledBack) {
      this.#forget(segment);
      return;
    }
    if (segment.lines.length === 0) segment.before = before;
    segment.lines.push(...lines);
  }

  /** The last line of a segment. If it has no lines, the last line of the segment before it. */
  #lastKnown({ lines }: Segment, start: number): FeedLine | undefined {
    return lines.at(-1) ?? this.#segments.get(start / SEGMENT_LENGTH - 1)?.lines.at(-1);
  }

  /** Drops the lines that were read before the store was rolled back. Callers that wait for this segment read it again. */
  #forget(segment: Segment): void {
    segment.lines = [];
    this.#segments = new BoundedCache(SEGMENTS_LIMIT);
  }

  async #read(
    from: number,
    to: number,
    texts: TextBuffer,
    inBackground: boolean,
  ): Promise<Pick<Segment, "before" | "lines">> {
    const lines: FeedLine[] = [];
    let before = "";
    try {
      // Read all lines before the first wait for a turn, because the store may be rolled back during the wait.
      const batches = await Array.fromAsync(readLog(this.#store, { from, to }));
      for (const { position, line } of batches.flat()) {
        if (inBackground && this.#background.isRestDue) await this.#background.turn("events");
        const event = eventOf(this.#application, line);
        if (event === undefined) throw new LogDamagedError(position, "is not an event");
        const previous = feedId(position - 1, event.previousHash);
        if (position === from) before = previous;
        if (event.position !== position || previous !== (lines.at(-1)?.id ?? before)) {
          throw new LogDamagedError(position, "does not follow the line before");
        }
        lines.push(feedLineOf(this.#application, { event, line }, texts));
      }
    } catch (error) {
      if (!(error instanceof LogDamagedError)) throw error;
      throw unreadableError(from, to);
    }
    return { before, lines };
  }
}

function newSegment(): Segment {
  return { before: "", lines: [], texts: new TextBuffer() };
}

/** The end of the log up to a head. */
export function feedPositionOf({ position, lastHash }: Pick<Head, "position" | "lastHash">): Place {
  return { position, id: feedId(position, lastHash) };
}

function unreadableError(from: number, to: number): ServiceError {
  const message = `The log cannot be read from position ${from} to ${to}`;
  return new ServiceError("store_unavailable", message);
}

/** Whether a place is before the last two segments of the log. Reads from such a place run in the background. */
function isBehind({ position }: Place, { head }: HeadEntry): boolean {
  return Math.floor(position / SEGMENT_LENGTH) < Math.floor(head.position / SEGMENT_LENGTH) - 1;
}

function expectSameId(clientId: string, logId: string): void {
  const message = "is not in this log: follow from lastEventId=now and then read all lists " +
    "again, or read all events without lastEventId";
  if (logId !== clientId) throw new ServiceError("feed_reset", `The event ${clientId} ${message}`);
}

/** The bytes of an event as a message of an event stream. */
export function messageOf({ message: { buffer, start, end } }: FeedEvent): Uint8Array {
  return buffer.subarray(start, end);
}

/** The bytes of an event as JSON. */
export function jsonOf({ message: { buffer, end }, jsonStart }: FeedEvent): Uint8Array {
  return buffer.subarray(jsonStart, end - MESSAGE_END.length);
}

function feedLineOf(application: Application, recorded: RecordedLine, texts: TextBuffer): FeedLine {
  const { event, line } = recorded;
  const { type, position, actor } = event;
  const id = feedId(position, sha256Hex(line));
  const shown = application.events[type].shown?.(event.data);
  if (shown === undefined) return { position, id };
  const beforeJson = `id: ${id}\nevent: ${type}\ndata: `;
  const message = texts.add(
    beforeJson + encodePublicEvent(application, recorded, id) + MESSAGE_END,
  );
  const jsonStart = message.start + beforeJson.length;
  return { position, id, event: { type, actor, shown, message, jsonStart } };
}

function feedId(position: number, hash: string): string {
  return `${sequenceOf(position)}-${hash.slice(0, HASH_DIGITS)}`;
}
