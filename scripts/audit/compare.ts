/**
 * Compares the records of a generation with the records that project() derives from the log. Finds missing, extra and
 * altered records. The log is read first. Its memory grows by 8 bytes for each pet, and by up to 8 for each event.
 */

import { Buffer } from "node:buffer";
import type { RecordedLine } from "../../events/event.ts";
import { sha256Start } from "../../src/encoding/sha256.ts";
import {
  IDEMPOTENCY_LIFETIME_MS,
  isProjectionKey,
  petKey,
  type ProjectionKey,
  projectionKey,
  type ProjectionRecord,
} from "../../src/keyspace.ts";
import { DigestTable } from "../../src/log/digest_table.ts";
import { readHead } from "../../src/log/head.ts";
import { eventOf } from "../../src/log/lines.ts";
import { CLOCK_TOLERANCE_MS, LogVerifier } from "../../src/log/log_verifier.ts";
import { LogDamagedError, readEvents, readLog } from "../../src/log/read_log.ts";
import { project } from "../../src/projections/project.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { formatKey } from "../../src/store/key_encoding.ts";
import { scan } from "../../src/store/scan.ts";
import type { Key, Store, StoreEntry } from "../../src/store/store.ts";

/** Maximum number of missing records that wait for an explanation. Further ones are differences at once. */
const MISSING_KEPT = 100_000;

export type DifferenceKind = "missing" | "extra" | "altered";

/** A record that does not match the log. */
export interface Difference {
  kind: DifferenceKind;
  key: Key;
  /** Position of the event that makes the record, if it is known. */
  position?: number;
}

/** The number of differences between a generation and the log, and the first of each kind. */
export class Differences {
  readonly counts: Record<DifferenceKind, number> = { missing: 0, extra: 0, altered: 0 };
  readonly first: Partial<Record<DifferenceKind, Difference>> = {};

  add(difference: Difference): void {
    this.counts[difference.kind]++;
    this.first[difference.kind] ??= difference;
  }

  get total(): number {
    return this.counts.missing + this.counts.extra + this.counts.altered;
  }
}

/** The records that follow from the lines that a verifier has found sound, in any generation. */
export class ExpectedRecords {
  /** The records that are not of pets, by the positions of their events. The store may have removed an expired one. */
  readonly others = new DigestTable(["expected", "expired"]);
  #verifier: LogVerifier;
  #runtime: Runtime;

  constructor(verifier: LogVerifier, runtime: Runtime) {
    this.#verifier = verifier;
    this.#runtime = runtime;
  }

  get pets() {
    return this.#verifier.pets;
  }

  get head() {
    return this.#verifier.head;
  }

  /** Takes the next lines, after the verifier has. */
  follow(lines: readonly RecordedLine[]): void {
    const now = this.#runtime.now();
    const records = project(
      lines.filter(({ event: { type, idempotencyKey } }) =>
        type !== "PetCreated" && type !== "PetUpdated" || idempotencyKey !== undefined
      ),
    );
    for (const { key, value, expiresAt } of records) {
      if (isPetKey(key)) continue;
      // The store keeps a record for some time after it expires, so differences between clocks do not matter.
      const kind = expiresAt !== undefined && expiresAt <= now ? "expired" : "expected";
      this.others.set(key.at(-1) as number, kind, digestOf(key, value));
    }
  }
}

/** Reads and verifies the log of a store, part by part. */
export class SoundLog {
  #store: Store;
  #verifier = new LogVerifier();
  /** The records that follow from the lines that were read. */
  readonly expected: ExpectedRecords;

  constructor({ store, runtime }: { store: Store; runtime: Runtime }) {
    this.#store = store;
    this.expected = new ExpectedRecords(this.#verifier, runtime);
  }

  /** Position of the last line that was read. */
  get position(): number {
    return this.#verifier.position;
  }

  /** The next lines, up to a position, in batches. Throws `UnsoundError` at the first fault. */
  async *readTo(to: number): AsyncGenerator<RecordedLine[]> {
    try {
      for await (const lines of readLog(this.#store, { from: this.position + 1, to })) {
        const recorded = lines.map(({ position, line }) => {
          const { event, faults } = this.#verifier.verify(line);
          if (event !== undefined && faults.length === 0) return { event, line };
          throw new UnsoundError(`Line ${position} of the log is not sound: ${faults.join("; ")}`);
        });
        this.expected.follow(recorded);
        yield recorded;
      }
    } catch (error) {
      if (error instanceof LogDamagedError) throw new UnsoundError(error.message);
      throw error;
    }
  }
}

/** The log has a fault, or a generation built from it does not match it. */
export class UnsoundError extends Error {
  override name = "UnsoundError";
}

export interface ComparisonDeps {
  store: Store;
  runtime: Runtime;
  generation: number;
  expected: ExpectedRecords;
  /**
   * Whether the service writes to the generation. Then a record is not a difference if an event after those of `expected`
   * has written or removed it.
   */
  isServed: boolean;
  /** Called for each difference. */
  differs?: (difference: Difference) => void;
}

/**
 * Compares a generation with the records that are expected of it. The caller calls {@linkcode Comparison.readAll}, or it
 * passes all entries of the generation to {@linkcode Comparison.judge}, and then calls {@linkcode Comparison.finish}.
 * The lines must have been read before.
 */
export class Comparison {
  /** The differences found so far. */
  readonly differences = new Differences();
  /** Number of idempotency records missing because a clock was wrong. They are not differences. */
  removedByWrongClock = 0;
  #deps: ComparisonDeps;
  /** The ids of the pets, and the positions of the other records, that were there, even if altered. */
  #petsSeen: Bits;
  #othersSeen: Bits;
  #later: LaterRecords | undefined;
  /** Missing idempotency records that no wrong clock explains yet, and an upper bound of their times. */
  #missing: MissingRecord[] = [];
  #latestMissingMs = -Infinity;

  constructor(deps: ComparisonDeps) {
    const { store, expected: { head }, isServed } = deps;
    this.#deps = deps;
    this.#petsSeen = new Bits(head.lastPetId);
    this.#othersSeen = new Bits(head.position);
    if (isServed) this.#later = new LaterRecords(store, head.position);
  }

  /** Compares the whole generation. Calls `progress` from time to time. */
  async readAll(progress: () => Promise<void>): Promise<void> {
    const { store, generation } = this.#deps;
    for await (const entries of scan(store, { prefix: projectionKey(generation, []) })) {
      await this.judge(entries);
      await progress();
    }
    await this.finish(progress);
  }

  /** Judges entries of the generation, right after they were read. */
  async judge(entries: readonly StoreEntry[]): Promise<void> {
    const found: Difference[] = [];
    for (const entry of entries) {
      const difference = await this.#differenceOf(entry);
      if (difference !== undefined) found.push(difference);
    }
    await this.#add(found);
  }

  /** Finds the missing records, after all entries. */
  async finish(progress: () => Promise<void> = async () => {}): Promise<void> {
    const { expected: { pets, others, head }, generation } = this.#deps;
    let missing: Difference[] = [];
    for (let id = 1; id <= head.lastPetId; id++) {
      if (this.#petsSeen.has(id)) continue;
      missing.push({
        kind: "missing",
        key: projectionKey(generation, petKey(pets.kindOf(id)!, id)),
      });
      if (missing.length < MISSING_KEPT) continue;
      await this.#add(missing);
      missing = [];
    }
    await this.#add(missing);
    const isMissing = (position: number) =>
      others.kindOf(position) === "expected" && !this.#othersSeen.has(position);
    let from = 1;
    while (from <= head.position && !isMissing(from)) from++;
    // From there on, because later events may explain it.
    for await (const lines of readLog(this.#deps.store, { from, to: head.position })) {
      for (const { position, line } of lines) {
        const event = eventOf(line)!;
        this.#explainMissing(event.time);
        if (!isMissing(position)) continue;
        const record = project([{ event, line }]).find(({ key }) => !isPetKey(key))!;
        this.#miss(record, position);
      }
      await progress();
    }
    for (const { key, position } of this.#missing) this.#differ({ kind: "missing", key, position });
    this.#missing = [];
  }

  async #differenceOf({ key, value }: StoreEntry): Promise<Difference | undefined> {
    const { store, expected: { pets, others, head } } = this.#deps;
    const recordKey = key.slice(2);
    const bytes = value instanceof Uint8Array ? value : undefined;
    const number = key.at(-1) as number;
    if (!isProjectionKey(recordKey)) return { kind: "extra", key };
    if (recordKey[0] === "pet") {
      const list = key[3] as string;
      if (pets.kindOf(number) !== list) return { kind: "extra", key };
      this.#petsSeen.add(number);
      const isRight = bytes !== undefined && pets.has(number, sha256Start(bytes));
      return isRight ? undefined : { kind: "altered", key };
    }
    if (others.has(number, digestOf(recordKey, bytes))) {
      this.#othersSeen.add(number);
      return undefined;
    }
    // Only a digest of the record is known, so ask the event.
    const range = { from: number, to: number };
    const lines = number <= head.position ? await readEvents(store, range) : undefined;
    const isOfEvent = project(lines ?? []).some((record) =>
      formatKey(record.key) === formatKey(recordKey)
    );
    if (!isOfEvent) return { kind: "extra", key };
    this.#othersSeen.add(number);
    return { kind: "altered", key, position: number };
  }

  /**
   * Excuses a missing record if a later event has an earlier time. Then the clock of the record's writer was ahead,
   * and the store, which counts the day by its own clock, removed the record before its `expiresAt`.
   */
  #explainMissing(time: string): void {
    if (this.#missing.length === 0) return;
    // With a tolerance, because clocks differ slightly.
    const fromMs = Date.parse(time) + CLOCK_TOLERANCE_MS;
    if (this.#latestMissingMs <= fromMs) return;
    const left = this.#missing.filter(({ timeMs }) => timeMs <= fromMs);
    this.removedByWrongClock += this.#missing.length - left.length;
    this.#missing = left;
    this.#latestMissingMs = fromMs;
  }

  #miss({ key: recordKey, expiresAt }: ProjectionRecord, position: number): void {
    const { runtime, generation } = this.#deps;
    const key = projectionKey(generation, recordKey);
    const timeMs = expiresAt === undefined ? -Infinity : expiresAt - IDEMPOTENCY_LIFETIME_MS;
    if (timeMs > runtime.now() + CLOCK_TOLERANCE_MS) this.removedByWrongClock++;
    else if (this.#missing.length === MISSING_KEPT) {
      this.#differ({ kind: "missing", key, position });
    } else {
      this.#missing.push({ key, position, timeMs });
      this.#latestMissingMs = Math.max(this.#latestMissingMs, timeMs);
    }
  }

  /** Adds the differences that no later event explains. */
  async #add(found: readonly Difference[]): Promise<void> {
    if (found.length === 0) return;
    await this.#later?.follow();
    for (const difference of found) {
      if (!this.#later?.has(difference.key.slice(2))) this.#differ(difference);
    }
  }

  #differ(difference: Difference): void {
    this.differences.add(difference);
    this.#deps.differs?.(difference);
  }
}

interface MissingRecord {
  key: Key;
  position: number;
  /** Time of the event, in milliseconds since the Unix epoch; `-Infinity` if the record never expires. */
  timeMs: number;
}

/** The records that the events after a position have written or removed. */
class LaterRecords {
  #store: Store;
  #position: number;
  #digests = new Set<number>();

  constructor(store: Store, position: number) {
    this.#store = store;
    this.#position = position;
  }

  /** Reads the events up to the head of now. So it knows all that was written before. */
  async follow(): Promise<void> {
    const { head: { position: to } } = await readHead(this.#store);
    try {
      for await (const lines of readLog(this.#store, { from: this.#position + 1, to })) {
        const recorded = lines.flatMap(({ line }) => {
          const event = eventOf(line);
          return event === undefined ? [] : [{ event, line }];
        });
        for (const { key } of project(recorded)) this.#digests.add(sha256Start(formatKey(key)));
        this.#position = lines.at(-1)!.position;
      }
    } catch (error) {
      // The events that are lost explain nothing.
      if (!(error instanceof LogDamagedError)) throw error;
    }
  }

  has(key: Key): boolean {
    return this.#digests.has(sha256Start(formatKey(key)));
  }
}

/** A set of the numbers from 0 to a largest one. */
class Bits {
  #bytes: Uint8Array;

  constructor(largest: number) {
    this.#bytes = new Uint8Array(Math.floor(largest / 8) + 1);
  }

  add(number: number): void {
    this.#bytes[Math.floor(number / 8)] |= 1 << number % 8;
  }

  has(number: number): boolean {
    return (this.#bytes[Math.floor(number / 8)] & 1 << number % 8) !== 0;
  }
}

/** Whether a key has the form of that of a pet. */
export function isPetKey(key: Key): boolean {
  return key[0] === "pet" && isProjectionKey(key);
}

/** The digest of a record that is not of a pet. */
function digestOf(key: ProjectionKey, value: Uint8Array = new Uint8Array()): number {
  // Each byte is a character, so that different values have different texts.
  const { buffer, byteOffset, length } = value;
  const text = Buffer.from(buffer, byteOffset, length).toString("latin1");
  return sha256Start(`${formatKey(key)}${text}`);
}
