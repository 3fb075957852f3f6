/**
 * Rebuilds the projections while the service runs, as src/README.md tells. Each step is one commit or a series of
 * commits that can be restarted, so after a replay was killed, the next one continues where it stopped. Only the
 * holder of the lease writes the records of earlier events, so they are read back once, right after they were written.
 */

import type { RecordedLine } from "../../events/event.ts";
import type { Pet } from "../../events/pet.ts";
import { type Runtime, sleep } from "../../src/runtime/runtime.ts";
import { encodeHead, type Head, readHead } from "../../src/log/head.ts";
import { groupIntoCommits } from "../../src/store/commit_size.ts";
import { formatKey } from "../../src/store/key_encoding.ts";
import { HEAD_KEY, projectionKey, retainedMutations } from "../../src/keyspace.ts";
import { RETRY_LIMIT_MS } from "../../src/store/resilience/resilient_store.ts";
import { scan } from "../../src/store/scan.ts";
import type { Mutation, Store, StoreEntry } from "../../src/store/store.ts";
import { Comparison, Differences, readSoundLog, UnsoundError } from "../audit/compare.ts";
import { project } from "../../src/projections/project.ts";
import { ReplayLease } from "./replay_lease.ts";

/** Time for which the old records are kept after the flip. It must exceed `HEAD_LIMIT_MS`. */
export const GRACE_MS = 10_000;

export type ReplayPhase = "fill" | "wait" | "remove";

export interface ReplayOptions {
  /** How long the old generation is kept after the flip, for requests that still read it. */
  graceMs?: number;
  /** Called with the progress of a phase, in events, milliseconds or records. The total may be unknown. */
  progress?: (phase: ReplayPhase, done: number, total?: number) => void;
  /** Called if there is a lease of another replay, which may be dead. */
  onWait?: () => void;
}

export interface ReplayOutcome {
  /** The generation served now. */
  generation: number;
  /** Number of events replayed: all events in the log when the replay was announced. */
  events: number;
  /** How many of these events an interrupted run replayed, before this run continued it. */
  resumedFrom: number;
  /** Differences between the generation served before and the log. */
  differences: Differences;
}

/**
 * Replays the log. The store must limit the time of its calls and retry its reads. Throws
 * `ReplayUnderWayError` if another replay is running. Throws `UnsoundError` if the log is not sound, or if
 * the new generation does not match it; the service then continues with the old generation.
 */
export async function replay(
  { store, runtime }: { store: Store; runtime: Runtime },
  options: ReplayOptions = {},
): Promise<ReplayOutcome> {
  // An empty log has nothing to rebuild. A lease without a head would make the store look like a foreign one.
  const { head: { generation }, versionstamp } = await readHead(store);
  if (versionstamp === null) {
    return { generation, events: 0, resumedFrom: 0, differences: new Differences() };
  }
  const lease = await ReplayLease.take(store, runtime, options.onWait ?? (() => {}));
  const outcome = await new Replay(store, runtime, lease, options).run();
  await lease.release();
  return outcome;
}

class Replay {
  #store: Store;
  #runtime: Runtime;
  #lease: ReplayLease;
  #graceMs: number;
  #progress: NonNullable<ReplayOptions["progress"]>;

  constructor(store: Store, runtime: Runtime, lease: ReplayLease, options: ReplayOptions) {
    this.#store = store;
    this.#runtime = runtime;
    this.#lease = lease;
    this.#graceMs = options.graceMs ?? GRACE_MS;
    this.#progress = options.progress ?? (() => {});
  }

  async run(): Promise<ReplayOutcome> {
    await this.#removeLeftovers();
    const { generation: old, building = await this.#announce() } =
      (await readHead(this.#store)).head;
    const { generation, until } = building;
    try {
      const resumedFrom = this.#lease.filledTo;
      const differences = await this.#fill(old, generation, until);
      await this.#changeHead(({ building: _, ...head }) => ({
        ...head,
        generation,
        removing: old,
      }));
      await this.#removeLeftovers();
      return { generation, events: until, resumedFrom, differences };
    } catch (error) {
      if (error instanceof UnsoundError) await this.#abandon(generation);
      throw error;
    }
  }

  /** From this commit on, every instance also writes the records of new events to the new generation. */
  async #announce(): Promise<NonNullable<Head["building"]>> {
    const { head } = await readHead(this.#store);
    const generation = head.generation + 1;
    await this.#remove(generation);
    this.#lease.filledTo = 0;
    const announced = await this.#changeHead((head) => ({
      ...head,
      building: { generation, until: head.position },
    }));
    return announced.building!;
  }

  /**
   * Writes the records of all events up to `until`, and compares both generations with the log. Resolves to
   * the differences of the old one. A record is compared as soon as it is written, so that the log is read and
   * verified only once.
   */
  async #fill(old: number, generation: number, until: number): Promise<Differences> {
    const deps = { store: this.#store, runtime: this.#runtime };
    const ofOld = new Comparison({ ...deps, generation: old });
    const ofNew = new Comparison({ ...deps, generation });
    const compare = async (lines: readonly RecordedLine[], records = project(lines)) => {
      await ofOld.follow(lines, records);
      await this.#lease.keep();
      await ofNew.follow(lines, records);
    };
    let filling = Promise.resolve();
    try {
      const lines = this.#linesToFill(until, compare);
      const seal = (lines: readonly RecordedLine[]) => this.#seal(generation, lines);
      for await (const group of groupIntoCommits(lines, seal, this.#store.limits)) {
        const { lines, records, mutations } = group;
        // Read the next group while this one is written and compared.
        await filling;
        // The same commit stores how far the generation is filled.
        const filledTo = lines.at(-1)!.event.position;
        filling = this.#lease.commit({ checks: [], mutations }, filledTo).then(() => {
          const newest = lines.findLast(({ event }) => event.type === "PetCreated");
          if (newest !== undefined) ofNew.restartReading((newest.event.data as Pet).id);
          return compare(lines, records);
        });
        filling.catch(() => {});
      }
    } finally {
      // The lease allows one commit at a time, and after an error #abandon commits too.
      await filling;
    }
    for (const comparison of [ofOld, ofNew]) {
      comparison.finish();
      await comparison.readRest(() => this.#lease.keep());
    }
    if (ofNew.differences.total > 0) {
      const [{ key }] = Object.values(ofNew.differences.first);
      throw new UnsoundError(
        `The rebuilt projections differ from the log in ${ofNew.differences.total} records, for ` +
          `example ${formatKey(key)}; the old ones stay in use`,
      );
    }
    return ofOld.differences;
  }

  /** The lines whose records are not written yet. Passes the lines before them to `compare`. */
  async *#linesToFill(
    until: number,
    compare: (lines: readonly RecordedLine[]) => Promise<void>,
  ): AsyncGenerator<RecordedLine[]> {
    const start = this.#lease.filledTo;
    for await (const lines of readSoundLog(this.#store, until)) {
      const first = lines.findIndex(({ event }) => event.position > start);
      if (first !== 0) await compare(lines.slice(0, first === -1 ? lines.length : first));
      if (first !== -1) yield lines.slice(first);
      this.#progress("fill", lines.at(-1)!.event.position, until);
    }
  }

  /** The records of lines, and what writes them to the generation. */
  #seal(generation: number, lines: readonly RecordedLine[]) {
    const records = project(lines);
    return {
      lines,
      records,
      mutations: retainedMutations(generation, records, this.#runtime.now()),
    };
  }

  /** Withdraws the announcement and removes the new generation. The service continues with the old one. */
  async #abandon(generation: number): Promise<void> {
    await this.#changeHead(({ building: _, ...head }) => ({ ...head, removing: generation }));
    await this.#removeLeftovers();
    await this.#lease.release();
  }

  /** Removes a generation that is no longer written, once no request can still read it. */
  async #removeLeftovers(): Promise<void> {
    const { removing, generation } = (await readHead(this.#store)).head;
    if (removing === undefined) return;
    // A generation that was never served has no readers.
    if (removing < generation) {
      await this.#lease.sleep(this.#graceMs, (waited) => {
        this.#progress("wait", waited, this.#graceMs);
      });
    }
    await this.#remove(removing);
    await this.#changeHead(({ removing: _, ...head }) => head);
  }

  async #remove(generation: number): Promise<void> {
    let removed = 0;
    const entries = scan(this.#store, { prefix: projectionKey(generation, []) });
    for await (const { mutations } of groupIntoCommits(entries, deletionOf, this.#store.limits)) {
      await this.#lease.commit({ checks: [], mutations });
      removed += mutations.length;
      this.#progress("remove", removed);
    }
  }

  /** Replaces the head. Retries on conflict, because instances keep changing the head. */
  async #changeHead(change: (head: Head) => Head): Promise<Head> {
    const deadline = this.#runtime.monotonicNow() + RETRY_LIMIT_MS;
    do {
      const { head, versionstamp } = await readHead(this.#store);
      const next = change(head);
      const mutations: Mutation[] = [{ type: "set", key: HEAD_KEY, value: encodeHead(next) }];
      const checks = [{ key: HEAD_KEY, versionstamp }];
      if (await this.#lease.commit({ checks, mutations })) return next;
      // At most 1 ms, because the instance that writes now will write again immediately.
      await sleep(this.#runtime, this.#runtime.random());
    } while (this.#runtime.monotonicNow() < deadline);
    throw new Error("The head changed during every attempt to update it; run the replay again");
  }
}

function deletionOf(entries: readonly StoreEntry[]) {
  return { mutations: entries.map(({ key }): Mutation => ({ type: "delete", key })) };
}
