import {
  encodePublicEvent,
  type PetEvent,
  type RecordedLine,
  sequenceOf,
} from "../../events/event.ts";
import type { PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { EMPTY_HEAD, type Head, type HeadEntry } from "../log/head.ts";
import { readEvents } from "../log/read_log.ts";
import { ServiceError } from "../service_error.ts";
import type { Store } from "../store/store.ts";

/** Number of positions in a part of the log that is cached as one. */
export const PART_LENGTH = 256;

/** Number of cached parts. A part of ordinary events takes some 200 KB. */
const PARTS_LIMIT = 32;

/** Digits of the hash of a line in an id. */
const HASH_DIGITS = 16;

export const FEED_ID_PATTERN = new RegExp(
  `^\\d{${sequenceOf(0).length}}-[0-9a-f]{${HASH_DIGITS}}$`,
);

/** A line of the log as clients see it. */
export interface FeedLine {
  position: number;
  /** The position, and a part of the hash of the line. So a position in another history can be recognised. */
  id: string;
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

/**
 * The events of pets, for those who follow the store. Each caller reads at its own pace from its own position, so
 * nothing is kept for it, and all share what was read lately.
 */
export class EventFeed {
  #store: Store;
  /** The lines of a part from its first position on, as many as were read. Ordered by last use. */
  #parts = new Map<number, FeedLine[]>();
  #reading = new Map<number, Promise<void>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The id of the newest line, or of the beginning of an empty log. */
  idOf({ position, lastHash }: Head): string {
    return feedId(position, lastHash);
  }

  /** The position of an id; `undefined` if the log up to that head has no line with this id. */
  async positionOf(id: string, entry: HeadEntry): Promise<number | undefined> {
    const position = parseInt(id);
    if (position === 0) return id === this.idOf(EMPTY_HEAD) ? 0 : undefined;
    if (position > entry.head.position) return undefined;
    const [line] = await this.linesAfter(position - 1, entry);
    return line.id === id ? position : undefined;
  }

  /** The lines after a position, which must be before the head; at least one, and at most {@linkcode PART_LENGTH}. */
  async linesAfter(position: number, { head }: HeadEntry): Promise<readonly FeedLine[]> {
    const number = Math.floor(position / PART_LENGTH);
    const start = number * PART_LENGTH;
    const end = Math.min(head.position, start + PART_LENGTH);
    for (;;) {
      const part = this.#parts.get(number) ?? [];
      this.#parts.delete(number);
      this.#parts.set(number, part);
      if (this.#parts.size > PARTS_LIMIT) this.#parts.delete(this.#parts.keys().next().value!);
      if (start + part.length >= end) return part.slice(position - start, end - start);
      let reading = this.#reading.get(number);
      if (reading === undefined) {
        const before = part.at(-1) ?? this.#parts.get(number - 1)?.at(-1);
        reading = this.#extend(part, { from: start + part.length + 1, to: end }, before)
          .finally(() => this.#reading.delete(number));
        this.#reading.set(number, reading);
      }
      await reading;
    }
  }

  async #extend(
    part: FeedLine[],
    range: { from: number; to: number },
    before: FeedLine | undefined,
  ): Promise<void> {
    const lines = await readEvents(this.#store, range);
    if (lines === undefined) {
      const { from, to } = range;
      const message = `The log cannot be read from position ${from} to ${to}`;
      throw new ServiceError("store_unavailable", message);
    }
    const [{ event: { position, previousHash } }] = lines;
    const previous = position - 1;
    if (before?.position === previous && before.id !== feedId(previous, previousHash)) {
      // Ids of the lines that were lost are not found from now on.
      this.#parts.clear();
      const message =
        `The log at position ${position} does not continue what this instance has read`;
      throw new ServiceError("store_unavailable", message);
    }
    part.push(...lines.map(feedLineOf));
  }
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
