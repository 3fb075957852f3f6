/**
 * Compares the records of a generation with the records that project() derives from the log. Finds missing,
 * extra and altered records, in bounded memory.
 */

import { MalformedEventError, type RecordedEvent } from "../../events/event.ts";
import { PET_STATUSES, type PetStatus } from "../../events/pet.ts";
import { bytesEqual } from "../encoding/bytes_equal.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../log/idempotency_lifetime.ts";
import { decodeLine, LogVerifier } from "../log/log_verifier.ts";
import { readHead } from "../log/head.ts";
import { readLog } from "../log/read_log.ts";
import { keyText } from "../store/key_text.ts";
import {
  isRecordKey,
  logKey,
  petByStatusKey,
  petKey,
  projectionKey,
  type ProjectionRecord,
  type RecordKey,
} from "../keyspace.ts";
import { type BoundedRange, scan, scanOutside } from "../store/scan.ts";
import type { Store, StoreEntry } from "../store/store.ts";
import { matchesStore as storeMatches, type PackedRecords, packRecords } from "./packed_records.ts";
import { project } from "../projections/project.ts";
import { MissingIdempotencyRecords } from "./missing_idempotency_records.ts";

export type DifferenceKind = "missing" | "extra" | "altered";

/** A record that does not match the log. */
export interface Difference {
  kind: DifferenceKind;
  key: Deno.KvKey;
  /** Position of the event that produces the record; absent if no event does. */
  position?: number;
}

export interface ComparisonDeps {
  store: Store;
  runtime: Runtime;
  /** Replaces {@linkcode storeMatches} to run on another thread. */
  matchesStore?: (expected: PackedRecords[]) => Promise<boolean>;
  generation: number;
  /** Records of events up to this position may be missing, because a replay is still writing them. */
  mayMissUntil?: number;
  /** Called for each difference; `count` is the number of differences of its kind that it represents. */
  differs: (difference: Difference, count: number) => void;
}

interface Expected {
  record: ProjectionRecord;
  /** Position of the event that produces the record. */
  position: number;
}

/**
 * Takes the events of the log in order and compares their records with the stored records. Afterwards, the
 * caller passes the entries outside of {@linkcode Comparison.covered} to {@linkcode Comparison.judge}.
 */
export class Comparison {
  #parts: ComparisonDeps;
  #position = 0;
  #lastPetId = 0;
  #missing = new MissingIdempotencyRecords();
  #following = Promise.resolve();
  #beforeLast = Promise.resolve();

  constructor(parts: ComparisonDeps) {
    this.#parts = parts;
  }

  get generation(): number {
    return this.#parts.generation;
  }

  /** The ranges of keys compared so far, in key order. */
  get covered(): BoundedRange[] {
    return this.#rangesOfPets(1, this.#lastPetId + 1);
  }

  /**
   * Starts to compare the records of the next events of the log; the caller reads on meanwhile. Resolves once
   * the events from two calls earlier are compared. Rejects if that comparison failed.
   */
  async follow(events: readonly RecordedEvent[]): Promise<void> {
    await this.#beforeLast;
    const last = this.#following;
    this.#beforeLast = last;
    this.#following = this.#follow(events, last);
    this.#following.catch(() => {});
  }

  /** Resolves once the events of all calls to `follow` are compared. Call once. */
  async finish(): Promise<void> {
    await this.#following;
    for (const [{ key, position }, count] of this.#missing.differences()) {
      this.#differ("missing", key, position, count);
    }
  }

  /** Number of idempotency records missing because a clock was wrong. They are not differences. */
  get removedByWrongClock(): number {
    return this.#missing.explained;
  }

  async #follow(events: readonly RecordedEvent[], before: Promise<void>): Promise<void> {
    const first = this.#lastPetId + 1;
    const ofPets: Expected[][] = petsKeys(first).map(() => []);
    const others: Expected[] = [];
    for (const event of events) {
      const { position } = event;
      this.#position = position;
      if (event.type === "PetCreated") {
        const { id } = event.data;
        // A damaged log may contain any id, but a log never has more pets than events.
        if (id <= this.#lastPetId || id > position) continue;
        this.#lastPetId = id;
      }
      for (const record of project(event)) {
        const place = placeInPetsKeys(record.key);
        (place === undefined ? others : ofPets[place]).push({ record, position });
      }
    }
    const ranges = this.#rangesOfPets(first, this.#lastPetId + 1);
    const { store, matchesStore = (entries) => storeMatches(store, entries) } = this.#parts;
    const packed = ofPets.map((expected, index) =>
      packRecords(ranges[index], expected.map(({ record }) => record))
    );
    const [arePetsHeld, found] = await Promise.all([
      matchesStore(packed),
      Promise.all(
        others.map(({ record }) => store.get(projectionKey(this.generation, record.key))),
      ),
    ]);
    // Report differences in the order of the log.
    await before;
    if (!arePetsHeld) await this.#comparePets(ranges, ofPets);
    let index = 0;
    for (const { position, time } of events) {
      this.#missing.observe(time);
      for (; others[index]?.position === position; index++) {
        const entry = found[index];
        if (entry !== null && isSame(entry.value, others[index].record.value)) continue;
        this.#compare([others[index]], entry === null ? [] : [entry]);
      }
    }
  }

  /** Finds the single differences, after `matchesStore` has found that there are some. */
  async #comparePets(ranges: BoundedRange[], ofPets: Expected[][]): Promise<void> {
    await Promise.all(ofPets.map(async (expected, index) => {
      const found = (await Array.fromAsync(scan(this.#parts.store, ranges[index]))).flat();
      this.#compare(expected, found);
    }));
  }

  /**
   * Judges entries of this generation outside of the covered ranges. A record of an event after those taken
   * is not a difference if the current head includes that event.
   */
  async judge(entries: StoreEntry[]): Promise<void> {
    const newer: StoreEntry[] = [];
    await Promise.all(entries.map(async (entry) => {
      const key = entry.key.slice(2);
      if (!isRecordKey(key)) return this.#differ("extra", entry.key);
      const place = key.at(-1) as number;
      if (place > (isOfPets(key) ? this.#lastPetId : this.#position)) newer.push(entry);
      else if (!await this.#isOfEvent(key, place)) this.#differ("extra", entry.key);
    }));
    if (newer.length === 0) return;
    const { head } = await readHead(this.#parts.store);
    for (const { key } of newer) {
      const last = isOfPets(key.slice(2)) ? head.lastPetId : head.position;
      if (key.at(-1) as number > last) this.#differ("extra", key);
    }
  }

  #compare(expected: Expected[], found: StoreEntry[]): void {
    const foundByName = new Map(found.map((entry) => [keyText(entry.key), entry]));
    for (const { record, position } of expected) {
      const key = projectionKey(this.generation, record.key);
      const name = keyText(key);
      const entry = foundByName.get(name);
      foundByName.delete(name);
      if (entry === undefined) {
        this.#miss(record, key, position);
      } else if (!isSame(entry.value, record.value)) {
        this.#differ("altered", key, position);
      }
    }
    for (const { key } of foundByName.values()) this.#differ("extra", key);
  }

  #miss({ expiresAt }: ProjectionRecord, key: Deno.KvKey, position: number): void {
    const { runtime, mayMissUntil = 0 } = this.#parts;
    if (position <= mayMissUntil) return;
    if (expiresAt === undefined) return this.#differ("missing", key, position);
    const now = runtime.now();
    // The store keeps a record for some time after it expires, so differences between clocks do not matter.
    if (expiresAt <= now) return;
    this.#missing.add({ key, position }, expiresAt - IDEMPOTENCY_LIFETIME_MS, now);
  }

  async #isOfEvent(key: RecordKey, position: number): Promise<boolean> {
    const entry = await this.#parts.store.get(logKey(position));
    try {
      const records = project(decodeLine(entry?.value));
      return records.some((record) => keyText(record.key) === keyText(key));
    } catch (error) {
      if (error instanceof MalformedEventError) return false;
      throw error;
    }
  }

  #rangesOfPets(first: number, end: number): BoundedRange[] {
    const starts = petsKeys(first);
    return petsKeys(end).map((key, index) => ({
      start: projectionKey(this.generation, starts[index]),
      end: projectionKey(this.generation, key),
    }));
  }

  #differ(kind: DifferenceKind, key: Deno.KvKey, position?: number, count = 1): void {
    this.#parts.differs({ kind, key, ...(position === undefined ? {} : { position }) }, count);
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

/** The events of the log up to a position, in batches. Throws `UnsoundError` at the first fault. */
export async function* readEvents(store: Store, to: number): AsyncGenerator<RecordedEvent[]> {
  const verifier = new LogVerifier();
  let due = 1;
  for await (const batch of readLog(store, { to })) {
    yield batch.map(({ position, value }) => {
      const { event, faults } = verifier.verify(value, position);
      if (event === undefined || faults.length > 0) {
        throw new UnsoundError(`Line ${position} of the log is not sound: ${faults.join("; ")}`);
      }
      return event;
    });
    due += batch.length;
  }
  if (due <= to) throw new UnsoundError(`Line ${due} of the log is missing`);
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
  parts: { store: Store; runtime: Runtime },
  progress: (done: number, total: number) => void,
): Promise<ServedComparison> {
  for (;;) {
    const { generation, position: until } = (await readHead(parts.store)).head;
    const [differences] = await compareWithLog(
      parts,
      { generations: [generation], until },
      (done) => progress(done, until),
    );
    const isServed = (await readHead(parts.store)).head.generation === generation;
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
  for await (const events of readEvents(store, until)) {
    for (const comparison of comparisons) await comparison.follow(events);
    await progress(events.at(-1)!.position);
  }
  for (const comparison of comparisons) {
    await comparison.finish();
    const prefix = projectionKey(comparison.generation, []);
    for await (const entries of scanOutside(store, prefix, comparison.covered)) {
      await comparison.judge(entries);
      await progress(until);
    }
  }
  return results;
}

/**
 * The keys of a pet in the projections of pets. These projections are large, so a comparison reads them by
 * ranges of ids, in step with the log.
 */
function petsKeys(id: number): RecordKey[] {
  return [petKey(id), ...STATUSES_IN_KEY_ORDER.map((status) => petByStatusKey(status, id))];
}

const STATUSES_IN_KEY_ORDER = [...PET_STATUSES].sort();

/** Index of a record's projection within {@linkcode petsKeys}; `undefined` for all other projections. */
function placeInPetsKeys([kind, status]: RecordKey): number | undefined {
  switch (kind) {
    case "pet":
      return 0;
    case "pet_by_status":
      return 1 + STATUSES_IN_KEY_ORDER.indexOf(status as PetStatus);
  }
}

function isOfPets([kind]: Deno.KvKey): boolean {
  return kind === "pet" || kind === "pet_by_status";
}

function isSame(stored: unknown, value: ProjectionRecord["value"]): boolean {
  return typeof value === "string" ? stored === value : bytesEqual(stored, value);
}
