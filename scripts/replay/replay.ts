/**
 * Rebuilds the projections while the service runs, as src/eventstore_less/README.md explains. Each step is one commit or
 * a series of commits that can be restarted, so after a replay was killed, the next one continues where it stopped.
 */

import type { Head, RecordedLine } from "eventstore-less/definitions.ts";
import { type Runtime, sleep } from "../../src/runtime/runtime.ts";
import { encodeHead, readHead } from "eventstore-less/log/head.ts";
import { HEAD_LIMIT_MS } from "eventstore-less/log/head_reader.ts";
import { LogDamagedError, logTime } from "eventstore-less/log/read_log.ts";
import { sealCommit } from "eventstore-less/store/commit_size.ts";
import {
  HEAD_KEY,
  projectionKey,
  projectionMutations,
  retainedRecords,
} from "eventstore-less/keyspace.ts";
import { RETRY_LIMIT_MS } from "eventstore-less/store/resilience/resilient_store.ts";
import { scan } from "eventstore-less/store/scan.ts";
import type { Mutation, Store, StoreEntry } from "eventstore-less/store/store.ts";
import { Comparison } from "../verify/compare.ts";
import { Findings } from "../verify/findings.ts";
import { UnsoundError } from "../verify/log_verifier.ts";
import { SoundLog } from "../verify/sound_log.ts";
import { project } from "eventstore-less/projections/project.ts";
import { type Filling, NO_FILLING, ReplayLease } from "../guarded/replay_lease.ts";
import { writeInCommits } from "../guarded/write_in_commits.ts";

/** Time for which the old records are kept after the flip: longer than a request may use the head before it. */
export const GRACE_MS = HEAD_LIMIT_MS + 1_000;

/** How many events may be left when a step of a replay ends: about as many as one commit stores. */
const LAG_LIMIT = 500;

export interface ReplayDeps {
  store: Store;
  runtime: Runtime;
}

export type ReplayPhase = "fill" | "wait" | "remove";

export interface ReplayOptions {
  /** How long the old generation is kept after the flip, for requests that still read it. */
  graceMs?: number;
  /** Called with events, seconds or records. The total may be unknown. */
  progress?: (phase: ReplayPhase, done: number, total?: number) => void;
  /** Called if there is a lease of another replay, which may be dead. */
  onWait?: () => void;
}

export interface ReplayOutcome {
  generation: number;
  /** Number of events replayed: all events in the log when the new generation was served first. */
  events: number;
  /** How many of these events an interrupted run replayed, before this run continued it. */
  resumedFrom: number;
  /** Differences between the generation served before and the log. */
  differences: Findings;
}

/**
 * Replays the log. The store must limit the time of its calls and retry its reads. Throws
 * `ReplayUnderWayError` if another replay is running. Throws `UnsoundError` or `LogDamagedError` if the log is not
 * sound, or if the new generation does not match it; the service then continues with the old generation.
 */
export async function replay(
  { store, runtime }: ReplayDeps,
  options: ReplayOptions = {},
): Promise<ReplayOutcome> {
  // An empty log has nothing to rebuild. A lease without a head would make the store look like a foreign one.
  const { head: { generation, position }, versionstamp } = await readHead(store);
  const differences = new Findings();
  if (versionstamp === null) return { generation, events: 0, resumedFrom: 0, differences };
  const { graceMs = GRACE_MS, progress = () => {}, onWait = () => {} } = options;
  const lease = await ReplayLease.take(store, runtime, onWait);
  const log = new SoundLog();
  const time = await logTime(store, runtime, position);
  const outcome = await rebuild({ store, runtime, lease, log, time, graceMs, progress });
  await lease.release();
  return outcome;
}

interface Job extends Required<Omit<ReplayOptions, "onWait">> {
  store: Store;
  runtime: Runtime;
  lease: ReplayLease;
  log: SoundLog;
  /** The time of the log at the start: records that are over by it are left out. */
  time: number;
}

async function rebuild(job: Job): Promise<ReplayOutcome> {
  const { store, lease, log } = job;
  await removeOld(job);
  const generation = (await readHead(store)).head.generation + 1;
  if (lease.filling.generation !== generation || lease.filling.filledTo === 0) {
    await discard(job, generation);
  }
  const resumedFrom = lease.filling.filledTo;
  try {
    await catchUp(job);
    const differences = await compare(job, resumedFrom > 0);
    await catchUp(job);
    await flip(job);
    await removeOld(job);
    return { generation, events: log.verifier.position, resumedFrom, differences };
  } catch (error) {
    if (!(error instanceof UnsoundError || error instanceof LogDamagedError)) throw error;
    await discard(job, generation);
    await lease.release();
    throw error;
  }
}

/** Removes what an earlier try has written to a generation that was never served. It has no readers. */
async function discard(job: Job, generation: number): Promise<void> {
  await job.lease.commit({}, { generation, filledTo: 0 });
  await remove(job, generation);
}

/** Compares both generations with the lines that were read. Resolves to the differences of the served one. */
async function compare({ store, runtime, lease, log }: Job, wasResumed: boolean) {
  const differencesOf = async (generation: number) => {
    const findings = new Findings();
    const comparison = new Comparison({ store, runtime, generation, log, findings });
    for await (const entries of scan(store, { prefix: projectionKey(generation, []) })) {
      await comparison.judge(entries);
      await lease.keep();
    }
    await comparison.finish(() => lease.keep());
    return findings;
  };
  const { generation } = lease.filling;
  const ofOld = await differencesOf(generation - 1);
  const ofNew = await differencesOf(generation);
  if (ofNew.total === 0) return ofOld;
  throw new UnsoundError(
    `The rebuilt projections differ from the log in ${ofNew.total} records, for example: ` +
      `${ofNew.faults[0].message}; the old ones stay in use` +
      (wasResumed ? ". An earlier run had filled a part, so run the replay again" : ""),
  );
}

/** Fills the new generation until few events are left, because others are appended meanwhile. */
async function catchUp(job: Job): Promise<void> {
  const readPosition = async () => (await readHead(job.store)).head.position;
  let isBehind = true;
  while (isBehind) {
    const to = await readPosition();
    await fill(job, linesToFill(job, to));
    isBehind = await readPosition() - to > LAG_LIMIT;
  }
}

/** Writes the records of the next lines of the log, in its order. */
function fill(job: Job, lines: AsyncIterable<RecordedLine[]> | RecordedLine[][]): Promise<void> {
  return writeInCommits(lines, job.store.limits, sealerOf(job), ({ mutations, filling }) => {
    return job.lease.commit({ mutations }, filling);
  });
}

/** The next lines of the log, without those whose records are written. */
async function* linesToFill({ store, lease, log, progress }: Job, to: number) {
  const { filledTo } = lease.filling;
  for await (const lines of log.readTo(store, to)) {
    const rest = lines.filter(({ event }) => event.position > filledTo);
    // Otherwise commits renew the lease, and it allows one at a time.
    if (rest.length === 0) await lease.keep();
    yield rest;
    progress("fill", log.verifier.position, to);
  }
}

/** Makes the commits that fill the new generation. Each also stores how far it fills the generation. */
function sealerOf({ time, lease: { filling: { generation } } }: Job) {
  return (lines: readonly RecordedLine[]) => {
    const filledTo = lines.at(-1)?.event.position ?? 0;
    return {
      mutations: projectionMutations(generation, retainedRecords(project(lines), time)),
      filling: { generation, filledTo },
    };
  };
}

/** Serves the new generation from one commit on, which has the last records and checks the head: no line is missing. */
async function flip(job: Job): Promise<void> {
  const { store, runtime, lease: { filling: { generation } }, log } = job;
  const seal = sealerOf(job);
  const deadline = runtime.monotonicNow() + RETRY_LIMIT_MS;
  while (true) {
    await catchUp(job);
    const { head, versionstamp } = await readHead(store);
    const lines: RecordedLine[] = [];
    for await (const read of log.readTo(store, head.position)) lines.push(...read);
    const { sealed: { mutations }, count } = sealCommit(lines, seal, store.limits);
    const fitsOneCommit = count === lines.length;
    if (fitsOneCommit) {
      const next = { ...head, generation, removing: head.generation };
      const change = { next, mutations, filling: NO_FILLING };
      const hasLanded = await replaceHead(job, versionstamp, change);
      if (hasLanded) return;
    }
    if (runtime.monotonicNow() >= deadline) throw headMovedError();
    // A commit with few records is faster than those of the instances, so it finds the head that it was made for.
    await fill(job, [lines]);
  }
}

/** Removes the generation that the head names for removal, when the requests that may read it have ended. */
async function removeOld(job: Job): Promise<void> {
  const { store, lease, graceMs, progress } = job;
  const { removing } = (await readHead(store)).head;
  if (removing === undefined) return;
  await lease.sleep(graceMs, (waited) => {
    progress("wait", Math.round(waited / 1_000), Math.round(graceMs / 1_000));
  });
  await remove(job, removing);
  await changeHead(job, ({ removing: _, ...next }) => next);
}

async function remove(job: Job, generation: number): Promise<void> {
  const { store, lease, progress } = job;
  let removed = 0;
  const entries = scan(store, { prefix: projectionKey(generation, []) });
  const seal = (entries: readonly StoreEntry[]) => ({
    mutations: entries.map(({ key }): Mutation => ({ type: "delete", key })),
  });
  await writeInCommits(entries, store.limits, seal, async ({ mutations }) => {
    await lease.commit({ mutations });
    removed += mutations.length;
    progress("remove", removed);
  });
}

/** Replaces the head. Repeats that if the head has changed meanwhile. */
async function changeHead(job: Job, change: (head: Head) => Head): Promise<void> {
  const deadline = job.runtime.monotonicNow() + RETRY_LIMIT_MS;
  do {
    const { head, versionstamp } = await readHead(job.store);
    const hasLanded = await replaceHead(job, versionstamp, { next: change(head) });
    if (hasLanded) return;
  } while (job.runtime.monotonicNow() < deadline);
  throw headMovedError();
}

type HeadChange = { next: Head; mutations?: Mutation[]; filling?: Filling };

/** Replaces the head that was read at a versionstamp. Resolves to `false`, after a short pause, if it has changed since. */
async function replaceHead(
  { lease, runtime }: Job,
  versionstamp: string | null,
  { next, mutations = [], filling }: HeadChange,
): Promise<boolean> {
  const set: Mutation = { type: "set", key: HEAD_KEY, value: encodeHead(next) };
  const checks = [{ key: HEAD_KEY, versionstamp }];
  const hasLanded = await lease.commit({ checks, mutations: [...mutations, set] }, filling);
  // At most 1 ms, because the instance that writes now will write again immediately.
  if (!hasLanded) await sleep(runtime, runtime.random());
  return hasLanded;
}

function headMovedError(): Error {
  return new Error("The head changed during every attempt to update it; run the replay again");
}
