import { type Head, type Runtime, ServiceError } from "eventstore-less";
import { contentOf, type HeadReader, kindPrefix, readEvents } from "eventstore-less/parts";
import { reasonOf } from "eventstore-less/startup";
import { scan, type Store } from "eventstore-less/store";
import type { RecordedEvent, RecordedLine } from "../../events/all_events.ts";
import { APPLICATION } from "../application.ts";
import { categoryIdIn } from "../../events/pet.ts";
import type { Logger } from "../runtime/logger.ts";
import { commandName } from "../runtime/words.ts";
import { positionIn } from "./pet_content.ts";
import { petCount, removedCount } from "./pet_counts.ts";
import { isPetEvent } from "./pet_event.ts";
import { PetIndex } from "./pet_index.ts";
import { PET_KIND, REMOVED_PET_KIND } from "./pet_keys.ts";
import { petOf } from "./pet_records.ts";
import { Removals } from "./removals.ts";

/** How long a request and a probe wait until the index is filled, in milliseconds. */
const REQUEST_WAIT_MS = 2_000;
const PROBE_WAIT_MS = 500;

/** A fill that takes at least so long is logged, in milliseconds. During the first one, the instance is not ready. */
const REPORTED_MS = 500;

/** Time after which an instance that met damage fills its index again, in milliseconds. */
export const RETRY_MS = 30_000;

/** Events of one read of the log, which take about a millisecond. */
const BATCH = 256;

export interface PetIndexDeps {
  heads: Pick<HeadReader, "read">;
  store: Store;
  runtime: Pick<Runtime, "monotonicNow" | "setTimer">;
  report: Logger;
  /** Resolves when a part of the records may be read. */
  turn: () => Promise<void>;
}

/** Fills the index of an instance from the records of the pets, in the background, and lets it follow the log. */
export class PetIndexReader {
  #deps: PetIndexDeps;
  #index: PetIndex | undefined;
  /** The generation of the records from which the index was filled. A later generation may have repaired records. */
  #generation = 0;
  #fillMs: number | undefined;
  /** The damage that the last fill met. */
  #failure: { error: ServiceError; generation: number; metAt: number } | undefined;
  #filling: Promise<void> | undefined;
  #following: Promise<void> | undefined;

  constructor(deps: PetIndexDeps) {
    this.#deps = deps;
  }

  get isFilled(): boolean {
    return this.#index !== undefined;
  }

  /** How long the last successful fill took, in seconds. */
  get fillSeconds(): number | undefined {
    return this.#fillMs === undefined ? undefined : this.#fillMs / 1_000;
  }

  /** The index as of a head or later. Rejects with `projection_damaged`, and with `store_unavailable` before it is filled. */
  async asOf(head: Head): Promise<PetIndex> {
    this.#fillIfDue(head);
    if (this.#index === undefined) await this.#untilFilled(REQUEST_WAIT_MS);
    if (this.#index !== undefined) return await this.#followTo(this.#index, head);
    const message = "The index of the animals is still being filled";
    throw this.#failure?.error ?? new ServiceError("store_unavailable", message);
  }

  /**
   * Whether the instance can be ready: the index is filled, or a damaged record prevents that. Call it with each head
   * that a probe has read, so that the index keeps up with the commits of other instances, too.
   */
  async isReady(head: Head): Promise<boolean> {
    this.#fillIfDue(head);
    if (this.#index === undefined) await this.#untilFilled(PROBE_WAIT_MS);
    // A request that needs the index reports what fails here.
    if (this.#index !== undefined) this.#followTo(this.#index, head).catch(() => {});
    return this.#index !== undefined || this.#failure !== undefined;
  }

  /** Adds the lines of a commit of this instance, if they are the next ones. */
  follow(lines: readonly RecordedLine[]): void {
    if (this.#index !== undefined) addNext(this.#index, lines.map(({ event }) => event));
  }

  #fillIfDue(head: Head): void {
    if (this.#filling !== undefined || head.generation <= this.#generation) return;
    const { monotonicNow } = this.#deps.runtime;
    const failure = this.#failure;
    const isKnownDamage = failure !== undefined && head.generation <= failure.generation &&
      monotonicNow() - failure.metAt < RETRY_MS;
    if (isKnownDamage) return;
    this.#filling = this.#fillOnce(head).finally(() => {
      this.#filling = undefined;
    });
    // Requests that wait get the error, and the next request or probe tries again.
    this.#filling.catch(() => {});
  }

  /** Resolves when a fill has ended, if one runs, and at the latest after some milliseconds. Rejects as the fill does. */
  async #untilFilled(limitMs: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#deps.runtime.setTimer(limitMs, resolve);
    await Promise.race([this.#filling, late]).finally(cancel);
  }

  /** Fills the index, and notes damage. Rejects with all other errors. */
  async #fillOnce(head: Head): Promise<void> {
    const { report, runtime } = this.#deps;
    const startedAt = runtime.monotonicNow();
    try {
      const { index, generation } = await this.#fill(head);
      this.#index = index;
      this.#generation = generation;
      this.#failure = undefined;
    } catch (error) {
      const isDamage = error instanceof ServiceError && error.code === "projection_damaged";
      if (!isDamage) throw error;
      this.#index = undefined;
      this.#failure = { error, generation: head.generation, metAt: runtime.monotonicNow() };
      const remedy = `Lists of a category, and of removed animals, are refused until ${
        commandName("replay")
      } has ended`;
      report("error", "index_damaged", { reason: reasonOf(error), remedy });
      return;
    }
    this.#fillMs = runtime.monotonicNow() - startedAt;
    if (this.#fillMs < REPORTED_MS) return;
    report("info", "index_filled", { pets: this.#index.count(), ms: Math.round(this.#fillMs) });
  }

  /** The records are not read at one moment, so the events after the first head replace what was read of their pets. */
  async #fill(head: Head): Promise<{ index: PetIndex; generation: number }> {
    const { heads, store, turn } = this.#deps;
    const { generation } = head;
    const index = new PetIndex(head.position, await this.#readRemovals(head));
    for await (const entries of scan(store, { prefix: kindPrefix(generation, PET_KIND) })) {
      await turn();
      for (const entry of entries) {
        const { id, text } = petOf(entry);
        index.set(id, entry.key.at(-2) as string, BigInt(categoryIdIn(text)!));
      }
    }
    const { head: now } = await heads.read();
    // A replay has ended meanwhile, so records may have been removed before they were read.
    if (now.generation !== generation) return await this.#fill(now);
    await this.#addEvents(index, now.position);
    expectCount("pets in the lists", index.count(), petCount(now));
    expectCount("removed pets", index.removals.size, removedCount(now));
    return { index, generation };
  }

  async #readRemovals({ generation, position }: Head): Promise<Removals> {
    const { store, turn } = this.#deps;
    const positions: number[] = [];
    for await (const entries of scan(store, { prefix: kindPrefix(generation, REMOVED_PET_KIND) })) {
      await turn();
      for (const entry of entries) positions.push(positionIn(contentOf(APPLICATION, entry)));
    }
    return new Removals(positions, position);
  }

  async #followTo(index: PetIndex, { position }: Head): Promise<PetIndex> {
    while (index.position < position) {
      this.#following ??= this.#addEvents(index, position).finally(() => {
        this.#following = undefined;
      });
      await this.#following;
    }
    return index;
  }

  async #addEvents(index: PetIndex, to: number): Promise<void> {
    while (index.position < to) {
      const from = index.position + 1;
      addNext(
        index,
        await readEvents(APPLICATION, this.#deps.store, from, Math.min(to, from + BATCH - 1)),
      );
    }
  }
}

/** Throws `projection_damaged` unless there are as many as the head counts. */
function expectCount(what: string, count: number, expected: number): void {
  if (count === expected) return;
  const message = `The number of ${what} is ${count}, but the head counts ${expected}`;
  throw new ServiceError("projection_damaged", message, { cause: `run ${commandName("audit")}` });
}

/** Adds the events that are the next ones. A commit of this instance may have added some already. */
function addNext(index: PetIndex, events: readonly RecordedEvent[]): void {
  for (const event of events) {
    if (event.position !== index.position + 1) continue;
    if (isPetEvent(event)) index.add(event);
    index.position = event.position;
  }
}
