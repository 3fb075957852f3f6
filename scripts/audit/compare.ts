/**
 * Compares the records of a generation with the records that project() derives from the log. Finds missing,
 * extra and altered records. Its memory grows by some 45 bytes for each record that is
 * not packed.
 */

import { sha256Hex } from "../../src/encoding/sha256.ts";
import type { RecordedLine } from "../../events/event.ts";
import { PET_STATUSES } from "../../events/pet.ts";
import {
  IDEMPOTENCY_LIFETIME_MS,
  isProjectionKey,
  petByStatusKey,
  petKey,
  type ProjectionKey,
  projectionKey,
  type ProjectionRecord,
} from "../../src/keyspace.ts";
import { type Head, readHead } from "../../src/log/head.ts";
import { CLOCK_TOLERANCE_MS, LogVerifier } from "../../src/log/log_verifier.ts";
import { LogDamagedError, readLog } from "../../src/log/read_log.ts";
import { project } from "../../src/projections/project.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { formatKey } from "../../src/store/key_encoding.ts";
import { type BoundedRange, scanOutside } from "../../src/store/scan.ts";
import type { Key, Store, StoreEntry } from "../../src/store/store.ts";
import { type DifferenceKind, PackedComparison } from "./packed_comparison.ts";

/** Maximum number of missing records that wait for an explanation. Further ones are differences at once. */
const MISSING_KEPT = 100_000;

interface MissingRecord {
  key: Key;
  position: number;
  /** Time of the event, in milliseconds since the Unix epoch; `-Infinity` if the record never expires. */
  timeMs: number;
}

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
  /** Called for each difference. */
  differs?: (difference: Difference) => void;
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

/**
 * Takes the events of the log in order and compares their records with the stored records. Afterwards, the
 * caller calls {@linkcode Comparison.finish}. It then calls {@linkcode Comparison.readRest}, or it passes the
 * entries outside of {@linkcode Comparison.covered} to {@linkcode Comparison.judge}.
 */
export class Comparison {
  /** The differences found so far. */
  readonly differences = new Differences();
  /** Number of idempotency records missing because a clock was wrong. They are not differences. */
  removedByWrongClock = 0;
  #deps: ComparisonDeps;
  #packed!: PackedComparison[];
  /** For each position, 48 bits of the SHA-256 of its key, because the keys of a long log would not fit. */
  #ownKeys = new Map<number, number>();
  #position = 0;
  #lastPetId = 0;
  /** The lines of the current call of follow(). */
  #lines: readonly RecordedLine[] = [];
  /** Missing idempotency records that no wrong clock explains yet, and an upper bound of their times. */
  #missing: MissingRecord[] = [];
  #latestMissingMs = -Infinity;

  constructor(deps: ComparisonDeps) {
    this.#deps = deps;
    this.restartReading();
  }

  /**
   * Records are read ahead, so records that are written later are not seen. Call this after writing those of the
   * next pets, up to an id. No record may hold pets from both before and after this point.
   */
  restartReading(until = Number.MAX_SAFE_INTEGER - 1): void {
    this.#packed = PACKED_PREFIXES.map((prefix) =>
      new PackedComparison(
        this.#deps.store,
        this.#rangeOf(prefix, this.#lastPetId + 1, until + 1),
        (kind, what) => this.#differInPacked(prefix, kind, what),
      )
    );
  }

  get generation(): number {
    return this.#deps.generation;
  }

  /** The ranges of keys compared so far, in key order. */
  get covered(): BoundedRange[] {
    return PACKED_PREFIXES.map((prefix) => this.#rangeOf(prefix, 1, this.#lastPetId + 1));
  }

  /** Compares the records of the next lines of the log, which must be sound. */
  async follow(
    lines: readonly RecordedLine[],
    projected: readonly ProjectionRecord[] = project(lines),
  ): Promise<void> {
    this.#lines = lines;
    for (const { event } of lines) {
      this.#position = event.position;
      if (event.type === "PetCreated") this.#lastPetId = event.data.id;
    }
    const own: ProjectionRecord[] = [];
    const packed: Uint8Array[][] = PACKED_PREFIXES.map(() => []);
    for (const record of projected) {
      const index = packedIndexOf(record.key);
      if (index === -1) own.push(record);
      else packed[index].push(record.value as Uint8Array);
    }
    await Promise.all([
      ...this.#packed.map((comparison, index) => comparison.follow(packed[index], this.#lastPetId)),
      this.#followOwn(own, lines),
    ]);
  }

  /** Compares the records that are not packed. Their order is that of the log. */
  async #followOwn(
    records: readonly ProjectionRecord[],
    lines: readonly RecordedLine[],
  ): Promise<void> {
    const keys = records.map(({ key }) => projectionKey(this.generation, key));
    const found = await Promise.all(keys.map((key) => this.#deps.store.get(key)));
    let index = 0;
    for (const { event: { position, time } } of lines) {
      this.#explainMissing(time);
      for (; keys[index]?.at(-1) === position; index++) {
        const [key, record, entry] = [keys[index], records[index], found[index]];
        this.#ownKeys.set(position, hashOf(key));
        if (entry === null) this.#missOwn(record, key, position);
        else if (entry.value !== record.value) this.#differ("altered", key, position);
      }
    }
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

  /** Reports the missing idempotency records that a wrong clock does not explain. Call once, after the last event. */
  finish(): void {
    for (const { key, position } of this.#missing) this.#differ("missing", key, position);
  }

  /**
   * Judges entries of this generation outside of the covered ranges. A record of an event after those followed
   * is not a difference if `now`, a head that was read after the entries, includes that event.
   */
  judge(entries: StoreEntry[], now: Head): void {
    for (const { key } of entries) {
      const recordKey = key.slice(2);
      const number = key.at(-1) as number;
      const [taken, last] = isPacked(recordKey as ProjectionKey)
        ? [this.#lastPetId, now.lastPetId]
        : [this.#position, now.position];
      const isNewer = number > taken && number <= last && isProjectionKey(recordKey);
      const isOwn = number <= taken && this.#ownKeys.get(number) === hashOf(key);
      if (isOwn) this.#ownKeys.delete(number);
      else if (!isNewer) this.#differ("extra", key);
    }
  }

  /** Judges all entries of this generation outside of the covered ranges. Calls `progress` for each batch. */
  async readRest(progress: () => Promise<void>): Promise<void> {
    const { store } = this.#deps;
    const prefix = projectionKey(this.generation, []);
    for await (const entries of scanOutside(store, prefix, this.covered)) {
      this.judge(entries, (await readHead(store)).head);
      await progress();
    }
  }

  #differInPacked(prefix: ProjectionKey, kind: DifferenceKind, what: number | Key): void {
    const petId = typeof what === "number" ? what : undefined;
    const key = petId === undefined
      ? what as Key
      : projectionKey(this.generation, [...prefix, petId]);
    const line = this.#lines.find(({ event }) =>
      event.type === "PetCreated" && event.data.id === key.at(-1)
    );
    const position = line?.event.position;
    if (kind === "missing" && position! <= (this.#deps.mayMissUntil ?? 0)) return;
    this.#differ(kind, key, position, petId);
  }

  #missOwn({ expiresAt }: ProjectionRecord, key: Key, position: number): void {
    const { runtime, mayMissUntil = 0 } = this.#deps;
    if (position <= mayMissUntil) return;
    const now = runtime.now();
    // The store keeps a record for some time after it expires, so differences between clocks do not matter.
    if (expiresAt !== undefined && expiresAt <= now) return;
    const timeMs = expiresAt === undefined ? -Infinity : expiresAt - IDEMPOTENCY_LIFETIME_MS;
    if (timeMs > now + CLOCK_TOLERANCE_MS) this.removedByWrongClock++;
    else if (this.#missing.length === MISSING_KEPT) this.#differ("missing", key, position);
    else {
      this.#missing.push({ key, position, timeMs });
      this.#latestMissingMs = Math.max(this.#latestMissingMs, timeMs);
    }
  }

  #rangeOf(prefix: ProjectionKey, start: number, end: number): BoundedRange {
    return {
      start: projectionKey(this.generation, [...prefix, start]),
      end: projectionKey(this.generation, [...prefix, end]),
    };
  }

  #differ(kind: DifferenceKind, key: Key, position?: number, petId?: number): void {
    const difference = {
      kind,
      key,
      ...(petId === undefined ? {} : { petId }),
      ...(position === undefined ? {} : { position }),
    };
    this.differences.add(difference);
    this.#deps.differs?.(difference);
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
    for await (const lines of readLog(store, { from: 1, to })) {
      yield lines.map(({ position, line }) => {
        const { event, faults } = verifier.verify(line);
        if (event !== undefined && faults.length === 0) return { event, line };
        throw new UnsoundError(`Line ${position} of the log is not sound: ${faults.join("; ")}`);
      });
    }
  } catch (error) {
    if (error instanceof LogDamagedError) throw new UnsoundError(error.message);
    throw error;
  }
}

/** The projections of packed texts, in key order. A comparison reads them in step with the log. */
const PACKED_PREFIXES: ProjectionKey[] = [
  petKey(),
  ...[...PET_STATUSES].sort().map((status) => petByStatusKey(status)),
];

/** The index of the prefix of a record of packed texts; -1 for any other record. */
function packedIndexOf(key: ProjectionKey): number {
  return PACKED_PREFIXES.findIndex((prefix) => prefix.every((part, index) => part === key[index]));
}

function isPacked(key: ProjectionKey): boolean {
  return packedIndexOf(key) !== -1;
}

function hashOf(key: Key): number {
  return parseInt(sha256Hex(formatKey(key)).slice(0, 12), 16);
}
