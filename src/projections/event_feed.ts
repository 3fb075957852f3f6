import {
  encodePublicEvent,
  type PetEvent,
  type RecordedLine,
  sequenceOf,
} from "../../events/event.ts";
import type { PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import type { Head, HeadEntry } from "../log/head.ts";
import { readEvents } from "../log/read_log.ts";
import { ServiceError } from "../service_error.ts";
import type { Store } from "../store/store.ts";

/** Number of positions in a part of the log that is cached as one. */
export const PART_LENGTH = 256;

/** Number of cached parts. One of ordinary events takes some 200 KB, and one of the longest some 6 MB. */
const PARTS_LIMIT = 8;

/** Digits of the hash of a line in an id. */
const HASH_DIGITS = 16;

export const FEED_ID_PATTERN = new RegExp(
  `^\\d{${sequenceOf(0).length}}-[0-9a-f]{${HASH_DIGITS}}$`,
);

/** A place in the log: a line that a client has read or passed, or the beginning. */
export interface Place {
  position: number;
  /** The position, and a part of the hash of the line. So a place in another history can be recognised. */
  id: string;
}

/** A line of the log as clients see it. */
export interface FeedLine extends Place {
  /** Absent if the line is not an event of a pet. */
  event?: FeedEvent;
}

export interface FeedEvent {
  type: PetEvent["type"];
  /** The statuses that the pet has left and entered, or kept; without those that are none. */
  statuses: readonly (PetStatus | null | undefined)[];
  /** A CloudEvent as JSON, on one line. */
  json: string;
  /** The event as a message of an event stream, once it was needed. */
  message?: Uint8Array;
}

/** Consecutive lines, and the id of the line before them. */
interface Part {
  before: string;
  lines: FeedLine[];
  reading?: Promise<void>;
}

/**
 * The events of pets, for those who follow the store. Each caller reads at its own pace from its own place, so nothing is
 * kept for it, and all share what was read lately.
 */
export class EventFeed {
  #store: Store;
  /** By number. Ordered by last use. */
  #parts = new Map<number, Part>();
  #lastRead: Promise<unknown> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The end of the log up to a head. */
  endOf({ position, lastHash }: Head): Place {
    return { position, id: feedId(position, lastHash) };
  }

  /**
   * The lines after a place in the log up to a head, at most {@linkcode PART_LENGTH}; none at its end. Rejects with
   * `feed_reset` if the log has no such place.
   */
  async linesAfter({ position, id }: Place, { head }: HeadEntry): Promise<readonly FeedLine[]> {
    if (position >= head.position) {
      if (id !== this.endOf(head).id) throw resetError(id);
      return [];
    }
    const number = Math.floor(position / PART_LENGTH);
    const start = number * PART_LENGTH;
    const end = Math.min(head.position, start + PART_LENGTH);
    const part = this.#partOf(number);
    while (start + part.lines.length < end) {
      part.reading ??= this.#inTurn(() => this.#extend(part, start, end))
        .finally(() => part.reading = undefined);
      await part.reading;
    }
    const before = position === start ? part.before : part.lines[position - start - 1].id;
    if (before !== id) throw resetError(id);
    return part.lines.slice(position - start, end - start);
  }

  #partOf(number: number): Part {
    const part = this.#parts.get(number) ?? { before: "", lines: [] };
    this.#parts.delete(number);
    this.#parts.set(number, part);
    // Those who read an older one keep it until they have it all.
    if (this.#parts.size > PARTS_LIMIT) this.#parts.delete(this.#parts.keys().next().value!);
    return part;
  }

  /** Runs one read after the other, because many at once would keep the thread from requests for seconds. */
  #inTurn(read: () => Promise<void>): Promise<void> {
    const reading = this.#lastRead.then(read);
    this.#lastRead = reading.catch(() => {});
    return reading;
  }

  async #extend(part: Part, start: number, end: number): Promise<void> {
    const last = start + part.lines.length;
    const lines = await readEvents(this.#store, { from: last + 1, to: end });
    if (lines === undefined) {
      const message = `The log cannot be read from position ${last + 1} to ${end}`;
      throw new ServiceError("store_unavailable", message);
    }
    const before = feedId(last, lines[0].event.previousHash);
    const known = part.lines.at(-1) ?? this.#parts.get(start / PART_LENGTH - 1)?.lines.at(-1);
    if (known?.position === last && known.id !== before) {
      // The store was rolled back, so its lines are other ones than those that were read.
      part.lines = [];
      this.#parts.clear();
      return;
    }
    if (part.lines.length === 0) part.before = before;
    part.lines.push(...lines.map(feedLineOf));
  }
}

function resetError(id: string): ServiceError {
  return new ServiceError(
    "feed_reset",
    `The event ${id} is not in this log: follow from lastEventId=now and then read the ` +
      "animals again, or read all events without lastEventId",
  );
}

function feedLineOf(recorded: RecordedLine): FeedLine {
  const { event, line } = recorded;
  const id = feedId(event.position, sha256Hex(line));
  if (event.type !== "PetCreated" && event.type !== "PetUpdated") {
    return { position: event.position, id };
  }
  const { type, data } = event;
  const former = type === "PetUpdated" ? data.previous.status : undefined;
  const statuses = [data.status, former];
  return {
    position: event.position,
    id,
    event: { type, statuses, json: encodePublicEvent(recorded, id) },
  };
}

function feedId(position: number, hash: string): string {
  return `${sequenceOf(position)}-${hash.slice(0, HASH_DIGITS)}`;
}
