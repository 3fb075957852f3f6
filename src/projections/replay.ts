/**
 * Rebuilds the projections beside the live service: announces a new generation in the head, so that
 * every instance writes both, fills in what was before, compares, flips the head, and removes the
 * old generation. Each step is one commit or a row of commits that can be begun again, so a replay
 * that was killed is taken up by the next one where it was left.
 */

import type { RecordedEvent } from "../../events/event.ts";
import type { Runtime } from "../runtime.ts";
import { sleep } from "../runtime.ts";
import { encodeHead, type Head, type HeadEntry, readHead } from "../log/head.ts";
import { splitIntoCommits } from "../store/commit_size.ts";
import { keyText } from "../store/key_text.ts";
import { HEAD_KEY, isRetained, projectionKey, recordMutation } from "../store/keyspace.ts";
import { RETRY_LIMIT_MS } from "../store/retrying_store.ts";
import { scan } from "../store/scan.ts";
import type { Mutation, Store } from "../store/store.ts";
import { compareWithLog, Differences, readEvents, UnsoundError } from "./compare.ts";
import { project } from "./project.ts";
import { ReplayLease } from "./replay_lease.ts";

/** Longer than any request works with a head that it has read: longer than HEAD_LIMIT_MS. */
export const GRACE_MS = 10_000;

export type ReplayPhase = "fill" | "compare" | "wait" | "remove";

export interface ReplayOptions {
  /** How long the old generation stays after the flip, for the requests that still read it. */
  graceMs?: number;
  /** Told how far a phase is: in events, milliseconds or records. The total may be unknown. */
  progress?: (phase: ReplayPhase, done: number, total?: number) => void;
  /** Told that there is the lease of another replay, which may be dead. */
  onWait?: () => void;
}

export interface ReplayOutcome {
  /** The generation that is served now. */
  generation: number;
  /** How many events were replayed: all that the log had when the replay was announced. */
  events: number;
  /** How many of them by a run that was broken off, and taken up by this one. */
  resumedFrom: number;
  /** How the generation that was served before differed from the log. */
  differences: Differences;
}

/**
 * Replays the log. The store must bound its calls in time and repeat its reads. Throws
 * `ReplayUnderWayError` where another replay lives, and `UnsoundError` where the log is not sound;
 * then the old generation is served on.
 */
export async function replay(
  { store, runtime }: { store: Store; runtime: Runtime },
  options: ReplayOptions = {},
): Promise<ReplayOutcome> {
  // An empty log has nothing to be rebuilt, and a lease alone would make its store a stranger's.
  const { head, versionstamp } = await readHead(store);
  if (versionstamp === null) {
    return {
      generation: head.generation,
      events: 0,
      resumedFrom: 0,
      differences: new Differences(),
    };
  }
  const lease = await ReplayLease.take(store, runtime, options.onWait ?? (() => {}));
  const work = new Replay(store, runtime, lease, options);
  const outcome = await work.run();
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
    const { generation: old, building = await this.#announce() } = (await this.#head()).head;
    const { generation, until } = building;
    try {
      const resumedFrom = this.#lease.filledTo;
      await this.#fill(generation, until);
      const differences = await this.#compare(old, generation, until);
      await this.#flip(old, generation);
      await this.#removeLeftovers();
      return { generation, events: until, resumedFrom, differences };
    } catch (error) {
      if (error instanceof UnsoundError) await this.#abandon(generation);
      throw error;
    }
  }

  /** From this commit on every instance writes the records of new events to the new generation too. */
  async #announce(): Promise<NonNullable<Head["building"]>> {
    const { head } = await this.#head();
    const generation = head.generation + 1;
    await this.#remove(generation);
    this.#lease.filledTo = 0;
    const announced = await this.#changeHead((head) => ({
      ...head,
      building: { generation, until: head.position },
    }));
    return announced.building!;
  }

  async #fill(generation: number, until: number): Promise<void> {
    const start = this.#lease.filledTo;
    let filling = Promise.resolve();
    try {
      for await (const batch of readEvents(this.#store, until)) {
        // The next batch is read while the one before is written.
        await filling;
        filling = this.#write(generation, batch.filter(({ position }) => position > start));
        filling.catch(() => {});
        this.#progress("fill", batch.at(-1)!.position, until);
      }
    } finally {
      // The lease takes one commit at a time, also where what follows is the way back.
      await filling;
    }
  }

  async #write(generation: number, events: RecordedEvent[]): Promise<void> {
    const now = this.#runtime.now();
    const mutations = events.flatMap(project)
      .filter((record) => isRetained(record, now))
      .map((record) => recordMutation(generation, record, now));
    for (const part of splitIntoCommits(mutations)) {
      await this.#lease.commit({ checks: [], mutations: part });
    }
    if (events.length > 0) this.#lease.filledTo = events.at(-1)!.position;
    await this.#lease.keep();
  }

  async #compare(old: number, generation: number, until: number): Promise<Differences> {
    const [ofOld, ofNew] = await compareWithLog(
      { store: this.#store, runtime: this.#runtime },
      { generations: [old, generation], until },
      (done) => {
        this.#progress("compare", done, until);
        return this.#lease.keep();
      },
    );
    if (ofNew.total > 0) {
      const [{ key }] = Object.values(ofNew.first);
      throw new UnsoundError(
        `The generation built is not what the log says in ${ofNew.total} records, as in ${
          keyText(key)
        }`,
      );
    }
    return ofOld;
  }

  async #flip(old: number, generation: number): Promise<void> {
    await this.#changeHead(({ building: _, ...head }) => ({ ...head, generation, removing: old }));
  }

  /** Ends without a result: the announcement is taken back, and the old generation served on. */
  async #abandon(generation: number): Promise<void> {
    await this.#changeHead(({ building: _, ...head }) => ({ ...head, removing: generation }));
    await this.#removeLeftovers();
    await this.#lease.release();
  }

  /** Removes a generation that is not written any more, once nobody can be reading it. */
  async #removeLeftovers(): Promise<void> {
    const { removing, generation } = (await this.#head()).head;
    if (removing === undefined) return;
    // One that was built and never served has no readers.
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
    for await (const batch of scan(this.#store, { prefix: projectionKey(generation, []) })) {
      const mutations = batch.map(({ key }): Mutation => ({ type: "delete", key }));
      for (const part of splitIntoCommits(mutations)) {
        await this.#lease.commit({ checks: [], mutations: part });
      }
      removed += batch.length;
      this.#progress("remove", removed);
    }
  }

  /** Replaces the head, which others move all the while. */
  async #changeHead(change: (head: Head) => Head): Promise<Head> {
    const deadline = this.#runtime.monotonicNow() + RETRY_LIMIT_MS;
    do {
      const { head, versionstamp } = await this.#head();
      const next = change(head);
      const mutations: Mutation[] = [{ type: "set", key: HEAD_KEY, value: encodeHead(next) }];
      const checks = [{ key: HEAD_KEY, versionstamp }];
      if (await this.#lease.commit({ checks, mutations })) return next;
      // Hardly at all, for whoever writes now goes on at once.
      await sleep(this.#runtime, this.#runtime.random());
    } while (this.#runtime.monotonicNow() < deadline);
    throw new Error("Others moved the head at each attempt to change it; run the replay again");
  }

  #head(): Promise<HeadEntry> {
    return readHead(this.#store);
  }
}
