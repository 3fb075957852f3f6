/**
 * Compares the records of a generation with the records that project() derives from the log. Finds missing, extra and
 * altered records. The log is read first. Its memory grows by 16 bytes for each pet, and by up to 24 for each event.
 */

import { Buffer } from "node:buffer";
import { isPetEvent, type RecordedLine } from "../../events/event.ts";
import { hasCategory } from "../../events/pet.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import {
  isApiKeyKind,
  isPetKind,
  isProjectionKey,
  petListOf,
  type ProjectionKey,
  projectionKey,
  type ProjectionRecord,
} from "../../src/keyspace.ts";
import { DigestTable } from "./digest_table.ts";
import type { Findings } from "./findings.ts";
import { lastPetIdOf, readHead } from "../../src/log/head.ts";
import { eventOf } from "../../src/log/lines.ts";
import { LogVerifier } from "./log_verifier.ts";
import { LogDamagedError, readEventAt, readLog } from "../../src/log/read_log.ts";
import { project, textIn } from "../../src/projections/project.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { formatKey } from "../../src/store/key_encoding.ts";
import { checkedContent } from "../../src/store/checksum.ts";
import type { Key, Store, StoreEntry } from "../../src/store/store.ts";

/** The bits of the records of a pet, and those that a pet has together: while it is there, and after its removal. */
const SEEN: Record<string | number, number> = { pet: 1, pet_by_category: 2, removed_pet: 4 };
const ALL_SEEN = SEEN.pet | SEEN.pet_by_category;
const REMOVAL_SEEN = SEEN.removed_pet;

const DIFFERS = {
  missing: "is missing",
  extra: "is there, but does not follow from the log",
  altered: "is not what the log says",
};

type Difference = keyof typeof DIFFERS;

/** The sound lines of a log, of which it keeps digests of the records that follow from them. */
export class SoundLog {
  readonly verifier = new LogVerifier();
  /** The records of API keys, by their keys as texts. A log has few. */
  readonly apiKeys = new Map<string, ProjectionRecord>();
  /** The other records, and when they expire, by the positions of their events. */
  readonly others = new DigestTable();

  /** Takes the next lines, after the verifier has. */
  follow(lines: readonly RecordedLine[]): void {
    const records = project(
      lines.filter(({ event }) => !isPetEvent(event) || event.idempotencyKey !== undefined),
    );
    for (const record of records) {
      const { key, content, expiresAt = Infinity } = record;
      if (isApiKeyKind(key[0])) this.apiKeys.set(formatKey(key), record);
      if (isPetKind(key[0]) || isApiKeyKind(key[0])) continue;
      // The table has no content for a value below 1, such as a time before 1970.
      const value = Math.max(1, expiresAt);
      this.others.set(key.at(-1) as number, keyAndContent(key, content), value);
    }
  }

  /** The next lines of a store, up to a position, in batches. Throws `UnsoundError` and `LogDamagedError`. */
  async *readTo(store: Store, to: number): AsyncGenerator<RecordedLine[]> {
    for await (const lines of readLog(store, { from: this.verifier.position + 1, to })) {
      const sound = lines.map(({ line }) =>
        this.verifier.expectSound(line, "; run deno task audit")
      );
      this.follow(sound);
      yield sound;
    }
  }
}

interface ComparisonDeps {
  store: Store;
  runtime: Runtime;
  generation: number;
  log: SoundLog;
  findings: Findings;
}

/**
 * Call `judge()` with all entries of a generation, and then `finish()`. The store is in use meanwhile, so a record that
 * an event after the lines of the log writes or removes may differ.
 */
export class Comparison {
  #deps: ComparisonDeps;
  /** By the ids of the pets, and by the positions of the other records: the records that were there, even if altered. */
  #petsSeen: Uint8Array;
  #othersSeen: Uint8Array;
  #apiKeysSeen = new Set<string>();
  /** The keys of the records that events after those of the log have written or removed, up to a position. */
  #laterKeys = new Set<string>();
  #laterTo: number;
  /** The latest time of an event of the log, or after it up to that position. */
  #latestMs: number;

  constructor(deps: ComparisonDeps) {
    const { head, latestMs } = deps.log.verifier;
    this.#deps = deps;
    this.#petsSeen = new Uint8Array(lastPetIdOf(head) + 1);
    this.#othersSeen = new Uint8Array(head.position + 1);
    this.#laterTo = head.position;
    this.#latestMs = latestMs;
  }

  /** Judges entries of the generation, right after they were read. */
  async judge(entries: readonly StoreEntry[]): Promise<void> {
    const found: [Difference, Key][] = [];
    for (const entry of entries) {
      const difference = await this.#differenceOf(entry);
      if (difference !== undefined) found.push([difference, entry.key]);
    }
    if (found.length > 0) await this.#followLater();
    for (const [difference, key] of found) this.#addUnlessLater(difference, key);
  }

  /** Finds the missing records, after all entries. Calls `progress` from time to time. */
  async finish(progress = async () => {}): Promise<void> {
    const { store, log: { verifier: { pets, head } }, generation } = this.#deps;
    await this.#followLater();
    for (let id = 1; id <= lastPetIdOf(head); id++) {
      const position = pets.valueAt(id);
      const expected = position < 0 ? REMOVAL_SEEN : ALL_SEEN;
      if (this.#petsSeen[id] === expected || position === 0) continue;
      const made = await readEventAt(store, Math.abs(position));
      for (const { key, content } of made === undefined ? [] : project([made])) {
        const isSeen = (this.#petsSeen[id] & SEEN[key[0]]) !== 0;
        if (content === undefined || !isPetKind(key[0]) || isSeen) continue;
        this.#addUnlessLater("missing", projectionKey(generation, key));
      }
      await progress();
    }
    for (const [name, { key }] of this.#deps.log.apiKeys) {
      if (this.#apiKeysSeen.has(name)) continue;
      this.#addUnlessLater("missing", projectionKey(generation, key));
    }
    await this.#findOthers(progress);
  }

  /** Finds the missing records that are not of pets. One that has expired, by the clock and by the log, may be gone. */
  async #findOthers(progress: () => Promise<void>): Promise<void> {
    const { store, runtime, generation, log: { others, verifier: { head } } } = this.#deps;
    const time = Math.min(runtime.now(), this.#latestMs);
    for (let position = 1; position <= head.position; position++) {
      const expiresAt = others.valueAt(position);
      if (expiresAt === 0 || expiresAt <= time || this.#othersSeen[position]) continue;
      const made = await readEventAt(store, position);
      for (const { key } of made === undefined ? [] : project([made])) {
        if (!isPetKind(key[0])) this.#addUnlessLater("missing", projectionKey(generation, key));
      }
      await progress();
    }
  }

  async #differenceOf(entry: StoreEntry): Promise<Difference | undefined> {
    const { store, log: { others, verifier: { pets, head } } } = this.#deps;
    const key = entry.key.slice(2);
    if (!isProjectionKey(key)) return "extra";
    const content = checkedContent(entry);
    if (isApiKeyKind(key[0])) return this.#differenceOfApiKey(key, content);
    const number = key.at(-1) as number;
    const isPet = isPetKind(key[0]);
    const position = isPet ? Math.abs(pets.valueAt(number)) : number;
    const isRight = isPet
      ? content !== undefined && isOfPet(pets, key, content)
      : others.has(number, keyAndContent(key, content));
    if (!isRight) {
      // Only a digest of the record is known, so ask the event, unless a later event has added the pet or the record.
      const isKnown = position > 0 && position <= head.position;
      const made = isKnown ? await readEventAt(store, position) : undefined;
      const isOfEvent = made !== undefined &&
        project([made]).some((record) =>
          record.content !== undefined && formatKey(record.key) === formatKey(key)
        );
      if (!isOfEvent) return "extra";
    }
    if (isPet) this.#petsSeen[number] |= SEEN[key[0]];
    else this.#othersSeen[number] = 1;
    return isRight ? undefined : "altered";
  }

  #differenceOfApiKey(key: ProjectionKey, content?: Uint8Array): Difference | undefined {
    const name = formatKey(key);
    const expected = this.#deps.log.apiKeys.get(name);
    if (expected === undefined) return "extra";
    this.#apiKeysSeen.add(name);
    return bytesEqual(content, expected.content!) ? undefined : "altered";
  }

  /** Reads the events up to the head of now. So all that was written before is known. */
  async #followLater(): Promise<void> {
    const { store } = this.#deps;
    const { head: { position: to } } = await readHead(store);
    try {
      for await (const lines of readLog(store, { from: this.#laterTo + 1, to })) {
        const recorded = lines.flatMap(({ line }) => {
          const event = eventOf(line);
          return event === undefined ? [] : [{ event, line }];
        });
        const times = recorded.map(({ event }) => Date.parse(event.time));
        this.#latestMs = Math.max(this.#latestMs, ...times);
        for (const { key } of project(recorded)) this.#laterKeys.add(formatKey(key));
        this.#laterTo = lines.at(-1)!.position;
      }
    } catch (error) {
      // The events that are lost explain nothing.
      if (!(error instanceof LogDamagedError)) throw error;
    }
  }

  #addUnlessLater(difference: Difference, key: Key): void {
    if (!this.#laterKeys.has(formatKey(key.slice(2)))) this.#add(difference, key);
  }

  #add(difference: Difference, key: Key): void {
    const [, generation, name, ...place] = key as (string | number)[];
    const [id, list, category] = place.reverse();
    const isPet = isPetKind(name) && isProjectionKey(key.slice(2));
    const ofCategory = category === undefined ? "" : ` of category ${category}`;
    const ofPet = list === undefined
      ? `The removal of pet ${id}`
      : `Pet ${id} in the list ${list}${ofCategory}`;
    const what = isPet ? `${ofPet} of generation ${generation}` : `Record ${formatKey(key)}`;
    // The key of a record of an Idempotency-Key ends with the position of its event.
    const hasPosition = !isPet && !isApiKeyKind(name) && difference !== "extra";
    const position = hasPosition ? Number(id) : undefined;
    const ofEvent = position === undefined ? "" : ` (event ${position})`;
    const message = `${what} ${DIFFERS[difference]}${ofEvent}`;
    this.#deps.findings.add(`record_${difference}`, message, position);
  }
}

/** Whether a content is that of the record of a pet or of its removal, as the log says. */
function isOfPet(pets: DigestTable, key: ProjectionKey, content: Uint8Array): boolean {
  const id = key.at(-1) as number;
  const position = pets.valueAt(id);
  if (key[0] !== "removed_pet") {
    return pets.has(id, textIn(content)) && belongsUnder(key, position, content);
  }
  return position < 0 && bytesEqual(content, Buffer.from(String(-position)));
}

/** Whether a content has that position, and a pet of the list and the category that a key names. */
function belongsUnder(key: ProjectionKey, position: number, content: Uint8Array): boolean {
  const { buffer, byteOffset, length } = content;
  // Each byte as a character. TextDecoder takes several times as long.
  const text = Buffer.from(buffer, byteOffset, length).toString("latin1");
  const list = key.at(-2);
  const isOfList = list === petListOf(null)
    ? !text.includes(',"status":"')
    : text.includes(`,"status":"${list}"`);
  return isOfList && text.startsWith(`${position}{`) &&
    (key[0] === "pet" || hasCategory(text, String(key[1])));
}

function keyAndContent(key: ProjectionKey, content: Uint8Array = new Uint8Array()): Uint8Array {
  return Buffer.concat([Buffer.from(formatKey(key)), content]);
}
