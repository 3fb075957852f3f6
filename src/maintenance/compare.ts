/**
 * Compares the records of a generation with the records that project() derives from the log. Finds missing,
 * extra and altered records. Its memory grows by some eight bytes for each event.
 */

import type { RecordedLine } from "../../events/event.ts";
import { PET_STATUSES } from "../../events/pet.ts";
import {
  isRecordKey,
  petByStatusKey,
  petKey,
  projectionKey,
  type ProjectionRecord,
  type RecordKey,
} from "../keyspace.ts";
import { readHead } from "../log/head.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../log/idempotency_lifetime.ts";
import { LogVerifier } from "../log/log_verifier.ts";
import { LogDamagedError, readWholeLog } from "../log/read_whole_log.ts";
import { project } from "../projections/project.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type BoundedRange, scanOutside } from "../store/scan.ts";
import type { Key, Store, StoreEntry } from "../store/store.ts";
import { KeysByPosition } from "./keys_by_position.ts";
import { MissingIdempotencyRecords } from "./missing_idempotency_records.ts";
import { PackedComparison, type PackedDifference } from "./packed_comparison.ts";

export type DifferenceKind = "missing" | "extra" | "altered";

/** A record that does not match the log, or a pet in a record of several. */
export interface Difference {
  kind: DifferenceKind;
  /** If a pet differs, the key that a record of this pet alone would have. */
  key: Key;
  petId?: number;
  /** Position of the event that produces the record; absent if no event does. */
  position?: number;
}

export interface ComparisonDeps {
  store: Store;
  runtime: Runtime;
  generation: number;
  /** Records of events up to this position may be missing, because a replay is still writing them. */
  mayMissUntil?: number;
  /** Called for each difference; `count` is the number of differences of its kind that it represents. */
  differs: (difference: Difference, count: number) => void;
}

/** A record that is not packed texts of pets, and the position of its event. */
interface OwnRecord {
  record: ProjectionRecord;
  position: number;
}

/**
 * Takes the events of the log in order and compares their records with the stored records. Afterwards, the
 * caller passes the entries outside of {@linkcode Comparison.covered} to {@linkcode Comparison.judge}.
 */
export class Comparison {
  #deps: ComparisonDeps;
  #packed: { prefix: RecordKey; comparison: PackedComparison }[];
  #ownKeys = new KeysByPosition();
  #position = 0;
  #lastPetId = 0;
  #missing = new MissingIdempotencyRecords();
  /** The position of each pet of the current call of follow(). */
  #positions = new Map<number, number>();

  constructor(deps: ComparisonDeps) {
    this.#deps = deps;
    this.#packed = PACKED_PREFIXES.map((prefix) => ({
      prefix,
      comparison: new PackedComparison(
        deps.store,
        this.#rangeOf(prefix, Number.MAX_SAFE_INTEGER),
        (difference) => this.#differInPacked(prefix, difference),
      ),
    }));
  }

  get generation(): number {
    return this.#deps.generation;
  }

  /** The ranges of keys compared so far, in key order. */
  get covered(): BoundedRange[] {
    return PACKED_PREFIXES.map((prefix) => this.#rangeOf(prefix, this.#lastPetId + 1));
  }

  /** Compares the records of the next lines of the log. */
  async follow(lines: readonly RecordedLine[]): Promise<void> {
    const usable: RecordedLine[] = [];
    this.#positions.clear();
    for (const line of lines) {
      const { event } = line;
      this.#position = event.position;
      if (event.type === "PetCreated") {
        const { id } = event.data;
        // A damaged log may contain any id, but a log never has more pets than events.
        if (id <= this.#lastPetId || id > event.position) continue;
        this.#lastPetId = id;
        this.#positions.set(id, event.position);
      }
      usable.push(line);
    }
    const records = project(usable);
    await Promise.all([
      ...this.#packed.map(({ prefix, comparison }) =>
        comparison.follow(
          records.filter(({ key }) => isUnder(prefix, key))
            .map(({ value }) => value as Uint8Array),
          this.#lastPetId,
        )
      ),
      this.#followOwn(records, lines),
    ]);
  }

  /** Compares the records that are not packed. Their order is that of the log. */
  async #followOwn(
    records: readonly ProjectionRecord[],
    lines: readonly RecordedLine[],
  ): Promise<void> {
    const own = records.filter(({ key }) => !isPacked(key))
      .map((record): OwnRecord => ({ record, position: record.key.at(-1) as number }));
    const found = await Promise.all(
      own.map(({ record }) => this.#deps.store.get(projectionKey(this.generation, record.key))),
    );
    let index = 0;
    for (const { event: { position, time } } of lines) {
      this.#missing.observe(time);
      for (; own[index]?.position === position; index++) this.#compareOwn(own[index], found[index]);
    }
  }

  #compareOwn({ record, position }: OwnRecord, entry: StoreEntry | null): void {
    const key = projectionKey(this.generation, record.key);
    this.#ownKeys.add(position, key);
    if (entry === null) this.#missOwn(record, key, position);
    else if (entry.value !== record.value) this.#differ("altered", key, position);
  }

  /**
   * Reports the missing idempotency records that a wrong clock does not explain. Call once, after the last
   * event.
   */
  finish(): void {
    for (const [{ key, position }, count] of this.#missing.differences()) {
      this.#differ("missing", key, position, count);
    }
  }

  /** Number of idempotency records missing because a clock was wrong. They are not differences. */
  get removedByWrongClock(): number {
    return this.#missing.explained;
  }

  /**
   * Judges entries of this generation outside of the covered ranges. A record of an event after those taken
   * is not a difference if the current head includes that event.
   */
  async judge(entries: StoreEntry[]): Promise<void> {
    const newer: Key[] = [];
    for (const { key } of entries) {
      const recordKey = key.slice(2);
      if (!isRecordKey(recordKey)) {
        this.#differ("extra", key);
        continue;
      }
      const positionOrId = recordKey.at(-1) as number;
      if (positionOrId > (isPacked(recordKey) ? this.#lastPetId : this.#position)) newer.push(key);
      else if (!this.#ownKeys.take(positionOrId, key)) this.#differ("extra", key);
    }
    if (newer.length === 0) return;
    const { head } = await readHead(this.#deps.store);
    for (const key of newer) {
      const last = isPacked(key.slice(2) as RecordKey) ? head.lastPetId : head.position;
      if (key.at(-1) as number > last) this.#differ("extra", key);
    }
  }

  #differInPacked(prefix: RecordKey, difference: PackedDifference): void {
    const { kind, id } = difference;
    const position = id === undefined ? undefined : this.#positions.get(id);
    if (kind === "missing" && position! <= (this.#deps.mayMissUntil ?? 0)) return;
    if ("key" in difference) return this.#differ(kind, difference.key, position);
    const key = projectionKey(this.generation, [...prefix, difference.id]);
    const pet = { kind, key, petId: difference.id };
    this.#deps.differs(position === undefined ? pet : { ...pet, position }, 1);
  }

  #missOwn({ expiresAt }: ProjectionRecord, key: Key, position: number): void {
    const { runtime, mayMissUntil = 0 } = this.#deps;
    if (position <= mayMissUntil) return;
    if (expiresAt === undefined) return this.#differ("missing", key, position);
    const now = runtime.now();
    // The store keeps a record for some time after it expires, so differences between clocks do not matter.
    if (expiresAt <= now) return;
    this.#missing.add({ key, position }, expiresAt - IDEMPOTENCY_LIFETIME_MS, now);
  }

  #rangeOf(prefix: RecordKey, end: number): BoundedRange {
    return {
      start: projectionKey(this.generation, [...prefix, 1]),
      end: projectionKey(this.generation, [...prefix, end]),
    };
  }

  #differ(kind: DifferenceKind, key: Key, position?: number, count = 1): void {
    this.#deps.differs({ kind, key, ...(position === undefined ? {} : { position }) }, count);
  }
}

/** The number of differences between a generation and the log, and the first of each kind. */
export class Differences {
  readonly counts: Record<DifferenceKind, number> = { missing: 0, extra: 0, altered: 0 };
  readonly first: Partial<Record<DifferenceKind, Difference>> = {};

  add(difference: Difference, count: number): void {
    this.counts[difference.kind] += count;
    this.first[difference.kind] ??= difference;
  }

  get total(): number {
    return this.counts.missing + this.counts.extra + this.counts.altered;
  }
}

/** The log has a fault, or a generation built from it does not match it. */
export class UnsoundError extends Error {
  override name = "UnsoundError";
}

/** The lines of the log up to a position, in batches. Throws `UnsoundError` at the first fault. */
export async function* readSoundLog(store: Store, to: number): AsyncGenerator<RecordedLine[]> {
  const verifier = new LogVerifier();
  try {
    for await (const lines of readWholeLog(store, { from: 1, to })) {
      yield lines.map(({ position, line }) => {
        const { event, faults } = verifier.verify(line, position);
        if (event !== undefined && faults.length === 0) return { event, line };
        throw new UnsoundError(`Line ${position} of the log is not sound: ${faults.join("; ")}`);
      });
    }
  } catch (error) {
    if (error instanceof LogDamagedError) throw new UnsoundError(error.message);
    throw error;
  }
}

export interface ServedComparison {
  generation: number;
  /** Number of events that it was compared with. */
  events: number;
  differences: Differences;
}

/**
 * Compares the generation being served with the log up to the current head. Repeats this if there are
 * differences but a replay has flipped to another generation meanwhile. Throws `UnsoundError` if the log is
 * not sound.
 */
export async function compareServed(
  deps: { store: Store; runtime: Runtime },
  progress: (done: number, total: number) => void,
): Promise<ServedComparison> {
  for (;;) {
    const { generation, position: until } = (await readHead(deps.store)).head;
    const [differences] = await compareWithLog(
      deps,
      { generations: [generation], until },
      (done) => progress(done, until),
    );
    const isServed = (await readHead(deps.store)).head.generation === generation;
    if (differences.total === 0 || isServed) return { generation, events: until, differences };
  }
}

/** Compares generations with the log up to a position. Reads the log once. */
export async function compareWithLog(
  { store, runtime }: { store: Store; runtime: Runtime },
  { generations, until }: { generations: number[]; until: number },
  progress: (done: number) => Promise<void> | void,
): Promise<Differences[]> {
  const results = generations.map(() => new Differences());
  const comparisons = generations.map((generation, index) =>
    new Comparison({
      store,
      runtime,
      generation,
      differs: (one, count) => results[index].add(one, count),
    })
  );
  for await (const lines of readSoundLog(store, until)) {
    for (const comparison of comparisons) await comparison.follow(lines);
    await progress(lines.at(-1)!.event.position);
  }
  for (const comparison of comparisons) {
    comparison.finish();
    const prefix = projectionKey(comparison.generation, []);
    for await (const entries of scanOutside(store, prefix, comparison.covered)) {
      await comparison.judge(entries);
      await progress(until);
    }
  }
  return results;
}

/** The projections of packed texts, in key order. A comparison reads them in step with the log. */
const PACKED_PREFIXES: RecordKey[] = [
  petKey(),
  ...[...PET_STATUSES].sort().map((status) => petByStatusKey(status)),
];

function isPacked(key: RecordKey): boolean {
  return PACKED_PREFIXES.some((prefix) => isUnder(prefix, key));
}

function isUnder(prefix: RecordKey, key: RecordKey): boolean {
  return prefix.every((part, index) => part === key[index]);
}
