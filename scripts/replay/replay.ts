/**
 * Rebuilds the projections while the service runs, as src/README.md tells. Each step is one commit or a series of
 * commits that can be restarted, so after a replay was killed, the next one continues where it stopped. Only the
 * holder of the lease writes the records of earlier events, so they are read back once, right after they were written.
 */

import type { RecordedLine } from "../../events/event.ts";
import type { Pet } from "../../events/pet.ts";
import { type Runtime, sleep } from "../../src/runtime/runtime.ts";
import { encodeHead, type Head, readHead } from "../../src/log/head.ts";
import { HEAD_LIMIT_MS } from "../../src/log/head_reader.ts";
import { groupIntoCommits } from "../../src/store/commit_size.ts";
import { formatKey } from "../../src/store/key_encoding.ts";
import { HEAD_KEY, projectionKey, retainedMutations } from "../../src/keyspace.ts";
import { RETRY_LIMIT_MS } from "../../src/store/resilience/resilient_store.ts";
import { scan } from "../../src/store/scan.ts";
import type { Mutation, Store, StoreEntry } from "../../src/store/store.ts";
import { Comparison, Differences, readSoundLog, UnsoundError } from "../audit/compare.ts";
import { project } from "../../src/projections/project.ts";
import { ReplayLease } from "./replay_lease.ts";

/** Time for which the old records are kept after the flip: longer than a request may use the head before it. */
export const GRACE_MS = HEAD_LIMIT_MS + 1_000;

export type ReplayPhase = "fill" | "wait" | "remove";

export interface ReplayOptions {
  /** How long the old generation is kept after the flip, for requests that still read it. */
  graceMs?: number;
  /** Called with the progress of a phase, in events, seconds or records. The total may be unknown. */
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
  const { graceMs = GRACE_MS, progress = () => {}, onWait = () => {} } = options;
  const lease = await ReplayLease.take(store, runtime, onWait);
  const outcome = await rebuild({ store, runtime, lease, graceMs, progress });
  await lease.release();
  return outcome;
}

interface Job extends Required<Omit<ReplayOptions, "onWait">> {
  store: Store;
  runtime: Runtime;
  lease: ReplayLease;
}

async function rebuild(job: Job): Promise<ReplayOutcome> {
  await removeLeftovers(job);
  const { generation: old, building = await announce(job) } = (await readHead(job.store)).head;
  const { generation, until } = building;
  try {
    const resumedFrom = job.lease.filledTo;
    const differences = await fill(job, old, generation, until);
    await changeHead(job, ({ building: _, ...head }) => ({ ...head, generation, removing: old }));
    await removeLeftovers(job);
    return { generation, events: until, resumedFrom, differences };
  } catch (error) {
    if (!(error instanceof UnsoundError)) throw error;
    // Withdraw the announcement and remove the new generation. The service continues with the old one.
    await changeHead(job, ({ building: _, ...head }) => ({ ...head, removing: generation }));
    await removeLeftovers(job);
    await job.lease.release();
    throw error;
  }
}

/** From this commit on, every instance also writes the records of new events to the new generation. */
async function announce(job: Job): Promise<NonNullable<Head["building"]>> {
  const { head } = await readHead(job.store);
  const generation = head.generation + 1;
  await remove(job, generation);
  job.lease.filledTo = 0;
  const announce = (head: Head) => {
    return { ...head, building: { generation, until: head.position } };
  };
  return (await changeHead(job, announce)).building!;
}

/**
 * Writes the records of all events up to `until`, and compares both generations with the log. Resolves to
 * the differences of the old one. A record is compared as soon as it is written, so that the log is read and
 * verified only once.
 */
async function fill(
  job: Job,
  old: number,
  generation: number,
  until: number,
): Promise<Differences> {
  const deps = { store: job.store, runtime: job.runtime };
  const ofOld = new Comparison({ ...deps, generation: old });
  const ofNew = new Comparison({ ...deps, generation });
  const compare = async (lines: readonly RecordedLine[], records = project(lines)) => {
    await ofOld.follow(lines, records);
    await job.lease.keep();
    await ofNew.follow(lines, records);
  };
  let filling = Promise.resolve();
  try {
    const lines = linesToFill(job, until, compare);
    const seal = (lines: readonly RecordedLine[]) => {
      const records = project(lines);
      const mutations = retainedMutations(generation, records, job.runtime.now());
      return { lines, records, mutations };
    };
    for await (const group of groupIntoCommits(lines, seal, job.store.limits)) {
      const { lines, records, mutations } = group;
      // Read the next group while this one is written and compared.
      await filling;
      // The same commit stores how far the generation is filled.
      const filledTo = lines.at(-1)!.event.position;
      filling = job.lease.commit({ checks: [], mutations }, filledTo).then(() => {
        const newest = lines.findLast(({ event }) => event.type === "PetCreated");
        if (newest !== undefined) ofNew.restartReading((newest.event.data as Pet).id);
        return compare(lines, records);
      });
      filling.catch(() => {});
    }
  } finally {
    // The lease allows one commit at a time, and there are others after an error, too.
    await filling;
  }
  for (const comparison of [ofOld, ofNew]) {
    comparison.finish();
    await comparison.readRest(() => job.lease.keep());
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
async function* linesToFill(
  job: Job,
  until: number,
  compare: (lines: readonly RecordedLine[]) => Promise<void>,
): AsyncGenerator<RecordedLine[]> {
  const start = job.lease.filledTo;
  for await (const lines of readSoundLog(job.store, until)) {
    const first = lines.findIndex(({ event }) => event.position > start);
    if (first !== 0) await compare(lines.slice(0, first === -1 ? lines.length : first));
    if (first !== -1) yield lines.slice(first);
    job.progress("fill", lines.at(-1)!.event.position, until);
  }
}

/** Removes the generation that the head names for removal. First waits until requests that may read it have ended. */
async function removeLeftovers(job: Job): Promise<void> {
  const { store, lease, graceMs, progress } = job;
  const { removing, generation } = (await readHead(store)).head;
  if (removing === undefined) return;
  // A generation that was never served has no readers.
  if (removing < generation) {
    await lease.sleep(graceMs, (waited) => {
      progress("wait", Math.round(waited / 1_000), Math.round(graceMs / 1_000));
    });
  }
  await remove(job, removing);
  await changeHead(job, ({ removing: _, ...head }) => head);
}

async function remove(job: Job, generation: number): Promise<void> {
  const { store, lease, progress } = job;
  let removed = 0;
  const entries = scan(store, { prefix: projectionKey(generation, []) });
  const seal = (entries: readonly StoreEntry[]) => ({
    mutations: entries.map(({ key }): Mutation => ({ type: "delete", key })),
  });
  for await (const { mutations } of groupIntoCommits(entries, seal, store.limits)) {
    await lease.commit({ checks: [], mutations });
    removed += mutations.length;
    progress("remove", removed);
  }
}

/** Replaces the head. Retries on conflict, because instances keep changing the head. */
async function changeHead(job: Job, change: (head: Head) => Head): Promise<Head> {
  const deadline = job.runtime.monotonicNow() + RETRY_LIMIT_MS;
  do {
    const { head, versionstamp } = await readHead(job.store);
    const next = change(head);
    const mutations: Mutation[] = [{ type: "set", key: HEAD_KEY, value: encodeHead(next) }];
    const checks = [{ key: HEAD_KEY, versionstamp }];
    if (await job.lease.commit({ checks, mutations })) return next;
    // At most 1 ms, because the instance that writes now will write again immediately.
    await sleep(job.runtime, job.runtime.random());
  } while (job.runtime.monotonicNow() < deadline);
  throw new Error("The head changed during every attempt to update it; run the replay again");
}
