/**
 * Compares the records of a generation with the records that project() derives from the log. Finds missing, extra and
 * altered records. The log is read first. Its memory grows by 16 bytes for each pet, and by up to 16 for each event.
 */

import { Buffer } from "node:buffer";
import type { RecordedLine } from "../../events/event.ts";
import { hasCategory } from "../../events/pet.ts";
import {
  isPetKind,
  isProjectionKey,
  type ProjectionKey,
  projectionKey,
} from "../../src/keyspace.ts";
import { DigestTable } from "./digest_table.ts";
import { readHead } from "../../src/log/head.ts";
import { eventOf } from "../../src/log/lines.ts";
import { CLOCK_TOLERANCE_MS, LogVerifier } from "./log_verifier.ts";
import { LogDamagedError, readEventAt, readLog } from "../../src/log/read_log.ts";
import { positionIn, project, textIn } from "../../src/projections/project.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { formatKey } from "../../src/store/key_encoding.ts";
import { checkedContent } from "../../src/store/checksum.ts";
import { scan } from "../../src/store/scan.ts";
import type { Key, Store, StoreEntry } from "../../src/store/store.ts";
import { RefusedError } from "../cli/refused_error.ts";

/** Maximum number of missing records that a later event may excuse. Further ones are differences at once. */
const MISSING_KEPT = 100_000;

/** The bits of the records of a pet. */
const SEEN: Record<string | number, number> = { pet: 1, pet_by_category: 2 };
const ALL_SEEN = 3;

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
  readonly verifier: LogVerifier;
  #runtime: Runtime;

  constructor(verifier: LogVerifier, runtime: Runtime) {
    this.verifier = verifier;
    this.#runtime = runtime;
  }

  /** Takes the next lines, after the verifier has. */
  follow(lines: readonly RecordedLine[]): void {
    const now = this.#runtime.now();
    const records = project(
      lines.filter(({ event: { type, idempotencyKey } }) =>
        type !== "PetCreated" && type !== "PetUpdated" || idempotencyKey !== undefined
      ),
    );
    for (const { key, content, expiresAt } of records) {
      if (isPetKind(key[0])) continue;
      // The store keeps a record for some time after it expires, so differences between clocks do not matter.
      const kind = expiresAt !== undefined && expiresAt <= now ? "expired" : "expected";
      this.others.set(key.at(-1) as number, kind, keyAndContent(key, content));
    }
  }
}

/** Reads and verifies the log of a store, part by part. */
export class SoundLog {
  #store: Store;
  readonly expected: ExpectedRecords;

  constructor({ store, runtime }: { store: Store; runtime: Runtime }) {
    this.#store = store;
    this.expected = new ExpectedRecords(new LogVerifier(), runtime);
  }

  get position(): number {
    return this.expected.verifier.position;
  }

  /** The next lines, up to a position, in batches. Throws `UnsoundError` at the first fault. */
  async *readTo(to: number): AsyncGenerator<RecordedLine[]> {
    try {
      for await (const lines of readLog(this.#store, { from: this.position + 1, to })) {
        const recorded = lines.map(({ position, line }) => {
          const { event, faults } = this.expected.verifier.verify(line);
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
export class UnsoundError extends RefusedError {
  override name = "UnsoundError";
}

export interface ComparisonDeps {
  store: Store;
  runtime: Runtime;
  generation: number;
  expected: ExpectedRecords;
  /** Whether the service writes to the generation. Then later events explain records that differ. */
  isServed: boolean;
  differs?: (difference: Difference) => void;
}

/**
 * Compares a generation with the records that follow from lines that were read before. Call {@linkcode
 * Comparison.readAll}, or {@linkcode Comparison.judge} with all entries and then {@linkcode Comparison.finish}.
 */
export class Comparison {
  readonly differences = new Differences();
  /** Number of idempotency records missing because a clock was wrong. They are not differences. */
  removedByWrongClock = 0;
  #deps: ComparisonDeps;
  /** By the ids of the pets, and by the positions of the other records: the records that were there, even if altered. */
  #petsSeen: Uint8Array;
  #othersSeen: Uint8Array;
  /** The keys of the records that events after those of `expected` have written or removed, up to a position. */
  #laterKeys = new Set<string>();
  #laterTo: number;

  constructor(deps: ComparisonDeps) {
    const { head } = deps.expected.verifier;
    this.#deps = deps;
    this.#petsSeen = new Uint8Array(head.lastPetId + 1);
    this.#othersSeen = new Uint8Array(head.position + 1);
    this.#laterTo = head.position;
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
    if (found.length > 0) await this.#followLater();
    for (const difference of found) this.#addUnlessLater(difference);
  }

  /** Finds the missing records, after all entries. */
  async finish(progress: () => Promise<void> = async () => {}): Promise<void> {
    const { store, expected: { verifier: { pets, head } }, generation } = this.#deps;
    await this.#followLater();
    for (let id = 1; id <= head.lastPetId; id++) {
      if (this.#petsSeen[id] === ALL_SEEN) continue;
      const made = await readEventAt(store, pets.positionOf(id));
      for (const { key, content } of made === undefined ? [] : project([made])) {
        const isSeen = (this.#petsSeen[id] & SEEN[key[0]]) !== 0;
        if (content === undefined || !isPetKind(key[0]) || isSeen) continue;
        this.#addUnlessLater({ kind: "missing", key: projectionKey(generation, key) });
      }
    }
    await this.#findOthers(progress);
  }

  /**
   * Finds the missing records that are not of pets. Excuses that of an Idempotency-Key if a later event has an earlier
   * time: the clock of its writer was ahead, so the store, by its own clock, removed the record before its `expiresAt`.
   */
  async #findOthers(progress: () => Promise<void>): Promise<void> {
    const { store, runtime, generation, expected: { others, verifier: { head } } } = this.#deps;
    const isMissing = (position: number) =>
      others.kindOf(position) === "expected" && !this.#othersSeen[position];
    let from = 1;
    while (from <= head.position && !isMissing(from)) from++;
    /** The missing records that nothing excuses yet, and an upper bound of their times. */
    let missing: { difference: Difference; timeMs: number }[] = [];
    let latestMs = -Infinity;
    for await (const lines of readLog(store, { from, to: head.position })) {
      for (const { position, line } of lines) {
        const event = eventOf(line)!;
        const eventMs = Date.parse(event.time);
        // With a tolerance, because clocks differ slightly.
        const excusedMs = eventMs + CLOCK_TOLERANCE_MS;
        if (latestMs > excusedMs) {
          const left = missing.filter(({ timeMs }) => timeMs <= excusedMs);
          this.removedByWrongClock += missing.length - left.length;
          missing = left;
          latestMs = excusedMs;
        }
        if (!isMissing(position)) continue;
        const record = project([{ event, line }]).find(({ key }) => !isPetKind(key[0]))!;
        const key = projectionKey(generation, record.key);
        const difference: Difference = { kind: "missing", key, position };
        const timeMs = record.expiresAt === undefined ? -Infinity : eventMs;
        if (timeMs > runtime.now() + CLOCK_TOLERANCE_MS) this.removedByWrongClock++;
        else if (missing.length === MISSING_KEPT) this.#add(difference);
        else missing.push({ difference, timeMs });
        latestMs = Math.max(latestMs, timeMs);
      }
      await progress();
    }
    for (const { difference } of missing) this.#add(difference);
  }

  async #differenceOf(entry: StoreEntry): Promise<Difference | undefined> {
    const { key } = entry;
    const { store, expected: { others, verifier: { pets, head } } } = this.#deps;
    const recordKey = key.slice(2);
    const content = checkedContent(entry);
    const number = key.at(-1) as number;
    if (!isProjectionKey(recordKey)) return { kind: "extra", key };
    if (isPetKind(recordKey[0])) {
      const [kind, category] = recordKey as string[];
      if (pets.kindOf(number) !== key.at(-2)) return { kind: "extra", key };
      const isRight = content !== undefined && positionIn(content) === pets.positionOf(number) &&
        pets.has(number, textIn(content));
      const isElsewhere = isRight && kind === "pet_by_category" &&
        !hasCategory(latin1Of(content), category);
      if (isElsewhere) return { kind: "extra", key };
      this.#petsSeen[number] |= SEEN[kind];
      return isRight ? undefined : { kind: "altered", key };
    }
    if (others.has(number, keyAndContent(recordKey, content))) {
      this.#othersSeen[number] = 1;
      return undefined;
    }
    // Only a digest of the record is known, so ask the event.
    const found = number <= head.position ? await readEventAt(store, number) : undefined;
    const isOfEvent = found !== undefined &&
      project([found]).some((record) => formatKey(record.key) === formatKey(recordKey));
    if (!isOfEvent) return { kind: "extra", key };
    this.#othersSeen[number] = 1;
    return { kind: "altered", key, position: number };
  }

  /** Reads the events up to the head of now. So all that was written before is known. */
  async #followLater(): Promise<void> {
    const { store, isServed } = this.#deps;
    if (!isServed) return;
    const { head: { position: to } } = await readHead(store);
    try {
      for await (const lines of readLog(store, { from: this.#laterTo + 1, to })) {
        const recorded = lines.flatMap(({ line }) => {
          const event = eventOf(line);
          return event === undefined ? [] : [{ event, line }];
        });
        for (const { key } of project(recorded)) this.#laterKeys.add(formatKey(key));
        this.#laterTo = lines.at(-1)!.position;
      }
    } catch (error) {
      // The events that are lost explain nothing.
      if (!(error instanceof LogDamagedError)) throw error;
    }
  }

  #addUnlessLater(difference: Difference): void {
    if (!this.#laterKeys.has(formatKey(difference.key.slice(2)))) this.#add(difference);
  }

  #add(difference: Difference): void {
    this.differences.add(difference);
    this.#deps.differs?.(difference);
  }
}

/** The bytes that identify a record that is not of a pet. */
function keyAndContent(key: ProjectionKey, content: Uint8Array = new Uint8Array()): Uint8Array {
  return Buffer.concat([Buffer.from(formatKey(key)), content]);
}

/** The bytes as text, each a character. TextDecoder takes several times as long. */
function latin1Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}
