/**
 * Compares the records of a generation with those that follow from the log. A record is `extra` if the log makes none
 * under its key, `altered` if the log makes another one, and `missing` if it was not among the records of the store.
 */

import type { ProjectionKey } from "eventstore-less/definitions.ts";
import {
  IDEMPOTENCY_KIND,
  isProjectionKey,
  kindOf,
  projectionKey,
} from "eventstore-less/keyspace.ts";
import { readHead } from "eventstore-less/log/head.ts";
import { eventOf } from "eventstore-less/log/lines.ts";
import { LogDamagedError, readEventAt, readLog } from "eventstore-less/log/read_log.ts";
import { project } from "eventstore-less/projections/project.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { checkedContent } from "eventstore-less/store/checksum.ts";
import { formatKey } from "eventstore-less/store/key_encoding.ts";
import type { Key, Store, StoreEntry } from "eventstore-less/store/store.ts";
import type { Findings } from "./findings.ts";
import type { MissingRecords } from "./missing_records.ts";
import type { SoundLog } from "./sound_log.ts";

const DIFFERS = {
  missing: "is missing",
  extra: "is there, but does not follow from the log",
  altered: "is not what the log says",
};

type Difference = keyof typeof DIFFERS;

interface ComparisonDeps {
  store: Store;
  runtime: Runtime;
  generation: number;
  /** Has read the log. */
  log: SoundLog;
  findings: Findings;
}

/**
 * Call `judge()` with all entries of a generation, and then `finish()`. The store is in use meanwhile, so a difference
 * does not count if an event after the lines of the log wrote or removed the record.
 */
export class Comparison {
  #deps: ComparisonDeps;
  #missing: MissingRecords;
  /** The keys of the records that events after those of the log have written or removed, up to a position. */
  #laterKeys = new Set<string>();
  #laterTo: number;
  /** The latest time of an event of the log, or after it up to that position. */
  #latestMs: number;

  constructor(deps: ComparisonDeps) {
    const { verifier } = deps.log;
    this.#deps = deps;
    this.#missing = deps.log.allRecords();
    this.#laterTo = verifier.position;
    this.#latestMs = verifier.latestMs;
  }

  /** Judges entries of the generation, right after they were read. */
  async judge(entries: readonly StoreEntry[]): Promise<void> {
    const differences: [Difference, Key][] = [];
    for (const entry of entries) {
      const key = entry.key.slice(2);
      if (!isProjectionKey(key)) {
        differences.push(["extra", entry.key]);
        continue;
      }
      if (this.#isRight(key, entry)) {
        this.#markFound(key);
        continue;
      }
      const isAltered = await this.#isWritten(key);
      if (isAltered) this.#markFound(key);
      differences.push([isAltered ? "altered" : "extra", entry.key]);
    }
    if (differences.length === 0) return;
    await this.#followLater();
    for (const [difference, key] of differences) this.#addUnlessLater(difference, key);
  }

  /** Finds the missing records, after all entries. Calls `progress` from time to time. */
  async finish(progress = async () => {}): Promise<void> {
    const { runtime, generation, log } = this.#deps;
    await this.#followLater();
    // A record has expired if that is so by the clock and by the log.
    const time = Math.min(runtime.now(), this.#latestMs);
    for (let position = 1; position <= log.verifier.position; position++) {
      const mayBeRemoved = log.isIdempotencyKeyExpired(time, position);
      if (mayBeRemoved) this.#missing.remove(IDEMPOTENCY_KIND, position);
      if (!this.#missing.hasAnyAt(position)) continue;
      for (const key of await this.#keysWrittenAt(position)) {
        const isMissing = this.#missing.has(key[0] as string, position);
        if (isMissing) this.#addUnlessLater("missing", projectionKey(generation, key));
      }
      await progress();
    }
  }

  #isRight(key: ProjectionKey, entry: StoreEntry): boolean {
    const content = checkedContent(entry);
    return content !== undefined && this.#deps.log.makes(key, content);
  }

  /** Whether the log makes a record under the key. The log's digests do not tell, so this asks the event. */
  async #isWritten(key: ProjectionKey): Promise<boolean> {
    const position = this.#deps.log.positionOf(key);
    if (position === 0) return false;
    const name = formatKey(key);
    const written = await this.#keysWrittenAt(position);
    return written.some((it) => formatKey(it) === name);
  }

  /** The keys of the records that the event at a position writes; none if it cannot be read any more. */
  async #keysWrittenAt(position: number): Promise<ProjectionKey[]> {
    const recorded = await readEventAt(this.#deps.store, position);
    if (recorded === undefined) return [];
    return project([recorded]).filter(({ content }) => content !== undefined)
      .map(({ key }) => key);
  }

  #markFound(key: ProjectionKey): void {
    this.#missing.remove(key[0] as string, this.#deps.log.positionOf(key));
  }

  /** Reads the events up to the head of now. So all that was written before is known. */
  async #followLater(): Promise<void> {
    const { store } = this.#deps;
    const { head: { position: to } } = await readHead(store);
    try {
      for await (const lines of readLog(store, { from: this.#laterTo + 1, to })) {
        for (const { line } of lines) this.#followLine(line);
        this.#laterTo = lines.at(-1)!.position;
      }
    } catch (error) {
      // The events that are lost explain nothing.
      if (!(error instanceof LogDamagedError)) throw error;
    }
  }

  #followLine(line: Uint8Array): void {
    const event = eventOf(line);
    if (event === undefined) return;
    this.#latestMs = Math.max(this.#latestMs, Date.parse(event.time));
    for (const { key } of project([{ event, line }])) this.#laterKeys.add(formatKey(key));
  }

  #addUnlessLater(difference: Difference, key: Key): void {
    if (this.#laterKeys.has(formatKey(key.slice(2)))) return;
    const record = describeRecord(key);
    const position = difference === "extra" ? undefined : eventNamedBy(key);
    const ofEvent = position === undefined ? "" : ` (event ${position})`;
    const message = `${record} ${DIFFERS[difference]}${ofEvent}`;
    this.#deps.findings.add(`record_${difference}`, message, position);
  }
}

/** The record in words, for an operator. */
function describeRecord(key: Key): string {
  const [, generation, kind, ...parts] = key;
  const described = kindOf(kind)?.describe?.([kind as string, ...parts as ProjectionKey]);
  return described === undefined
    ? `Record ${formatKey(key)}`
    : `${described} of generation ${generation}`;
}

/** The position at the end of the key of a record of an Idempotency-Key. The keys of other records name no event. */
function eventNamedBy(key: Key): number | undefined {
  return key[2] === IDEMPOTENCY_KIND ? Number(key.at(-1)) : undefined;
}
