/** Rebuilds the projections while the service runs. "Generations and replay" in eventstore_less/README.md shows it. */

import { projectionKey, projectionMutations, PROJECTIONS, retainedRecords } from "../keyspace.ts";
import { readHead } from "../log/head.ts";
import { HEAD_LIMIT_MS } from "../log/head_reader.ts";
import { LogDamagedError, logTime, readLog } from "../log/read_log.ts";
import { project } from "../projections/project.ts";
import { type Runtime, sleep } from "../runtime/runtime.ts";
import { sealCommit } from "../store/commit_size.ts";
import { RETRY_LIMIT_MS } from "../store/resilience/resilient_store.ts";
import { scan } from "../store/scan.ts";
import type { KeyRange, Mutation, Store, StoreEntry } from "../store/store.ts";
import type { RecordedLine } from "../definitions.ts";
import type { Application } from "../application.ts";
import { Findings } from "./verify/findings.ts";
import { GenerationAudit } from "./verify/generation_audit.ts";
import { LogVerifier } from "./verify/log_verifier.ts";
import { pauseBeforeRetry, ReplayClaim } from "./guarded/replay_claim.ts";
import { writeInCommits } from "./guarded/write_in_commits.ts";
import type { Progress, Step } from "./tool_options.ts";
import type { ToolStore } from "./tool_store.ts";
import { UnsoundError } from "./unsound_error.ts";

/** Time for which the old records are kept after the switch: longer than a request may use the head before it. */
export const GRACE_MS = HEAD_LIMIT_MS + 1_000;

/** How many events may be left when a step of a replay ends: about as many as one commit stores. */
const LAG_LIMIT = 500;

const SECOND_MS = 1_000;

/**
 * The phases of a replay, in order:
 *
 * - `clear`: removes the records that an earlier run has left, which did not end.
 * - `fill`: writes the records of the new generation. Counts events.
 * - `wait`: the new generation is served. Waits for those who still read the old one. Counts seconds.
 * - `remove`: removes the records of the old generation.
 */
export type ReplayPhase = "clear" | "fill" | "wait" | "remove";

export interface RebuildOptions {
  /** How long the old generation is kept after the switch, in milliseconds. */
  graceMs?: number;
  step?: Step<Progress<ReplayPhase>>;
}

export interface ReplayReport {
  /** The generation that is served now. */
  generation: number;
  /** Number of events replayed: all events in the log when the new generation was served first. */
  events: number;
}

interface Job extends Required<RebuildOptions> {
  application: Application;
  store: Store;
  runtime: Runtime;
  claim: ReplayClaim;
  /** The generation that is filled. No head names it, so nobody else reads or writes it. */
  generation: number;
  /** The verifier of the lines that are filled in. */
  verifier: LogVerifier;
  /** The time of the log at the start: records that are over by it are left out. */
  time: number;
}

/**
 * Replays the log. The store must limit the time of its calls and retry its reads. Throws `ReplayOvertakenError` if
 * another replay was started meanwhile. Throws `UnsoundError` or `LogDamagedError` if the log is not sound, or if the new
 * generation does not match it; the service then continues with the old generation.
 */
export async function rebuild(
  { application, store, runtime }: ToolStore,
  { graceMs = GRACE_MS, step = () => {} }: RebuildOptions = {},
): Promise<ReplayReport> {
  const start = await readHead(application, store);
  // An empty log has nothing to rebuild. A claim without a head would make the store look like a foreign one.
  if (start.versionstamp === null) return { generation: start.head.generation, events: 0 };
  const claim = await ReplayClaim.take(application, store, runtime);
  // Only a replay changes the generation, and now only this one can.
  const { head } = await readHead(application, store);
  const generation = head.generation + 1;
  const time = await logTime(application, store, runtime, head.position);
  const verifier = new LogVerifier(application);
  const job = { application, store, runtime, claim, generation, verifier, time, graceMs, step };
  // An earlier run may have filled a part.
  await remove(job, "clear", fromGeneration(generation));
  try {
    await fillUntilNearHead(job);
    await judge(job);
    await switchTo(job);
  } catch (error) {
    if (!(error instanceof UnsoundError || error instanceof LogDamagedError)) throw error;
    await remove(job, "clear", fromGeneration(generation));
    await claim.release();
    throw error;
  }
  await waitForReaders(job);
  await remove(job, "remove", beforeGeneration(generation));
  await claim.release();
  return { generation, events: verifier.position };
}

/** Fills the new generation until few events are left, because others are appended meanwhile. */
async function fillUntilNearHead(job: Job): Promise<void> {
  const { application } = job;
  const readPosition = async () => (await readHead(application, job.store)).head.position;
  let isBehind = true;
  while (isBehind) {
    const to = await readPosition();
    await writeRecordsOf(job, takeLinesTo(job, to));
    isBehind = await readPosition() - to > LAG_LIMIT;
  }
}

/** Writes the records of the next lines of the log, in its order. */
function writeRecordsOf(
  job: Job,
  lines: AsyncIterable<RecordedLine[]> | RecordedLine[][],
): Promise<void> {
  const { store, claim } = job;
  return writeInCommits(lines, store.limits, sealerOf(job), ({ mutations }) => {
    return claim.commit(mutations);
  });
}

/**
 * Verifies the next lines of the log, up to a position, and yields them. The verifier then is after them, so the caller
 * must write their records. Throws `UnsoundError` and `LogDamagedError`.
 */
async function* takeLinesTo({ store, verifier, step }: Job, to: number) {
  for await (const lines of readLog(store, { from: verifier.position + 1, to })) {
    yield lines.map(({ line }) => verifier.expectSound(line));
    step({ phase: "fill", done: verifier.position, total: to });
  }
}

/** Makes commits that fill the new generation. */
function sealerOf({ application, time, generation }: Job) {
  return (lines: readonly RecordedLine[]) => ({
    mutations: projectionMutations(generation, retainedRecords(project(application, lines), time)),
  });
}

/** Lets an audit judge the new generation. Throws `UnsoundError` if a record is not as the log says. */
async function judge(
  { application, store, runtime, generation, verifier, time }: Job,
): Promise<void> {
  const findings = new Findings(application);
  // A record that the replay omitted counts as expired, even if the clock has been set back since.
  const clock = { now: () => Math.max(time, runtime.now()) };
  const records = new GenerationAudit({
    application,
    store,
    runtime: clock,
    generation,
    verifier,
    findings,
  });
  for await (const entries of scan(store, { prefix: projectionKey(generation, []) })) {
    await records.judge(entries);
  }
  await records.finish();
  if (findings.total === 0) return;
  throw new UnsoundError(
    "records_unsound",
    `The rebuilt projections differ from the log in ${findings.total} records, for example: ` +
      `${findings.faults[0].message}; the old ones stay in use`,
    { lastSound: verifier.position },
  );
}

/** Serves the new generation from one commit on, which has the last records and replaces the head: no line is missing. */
async function switchTo(job: Job): Promise<void> {
  const { application, store, runtime, claim, generation } = job;
  const seal = sealerOf(job);
  const deadline = runtime.monotonicNow() + RETRY_LIMIT_MS;
  while (true) {
    await fillUntilNearHead(job);
    const base = await readHead(application, store);
    const { head } = base;
    const lines = (await Array.fromAsync(takeLinesTo(job, head.position))).flat();
    const { sealed: { mutations }, count } = sealCommit(lines, seal, store.limits);
    const fitsOneCommit = count === lines.length;
    if (fitsOneCommit) {
      const hasLanded = await claim.replaceHead(base, { ...head, generation }, mutations);
      if (hasLanded) return;
    }
    await pauseBeforeRetry(runtime, deadline);
    // Write these records now, so that the next attempt has fewer and is over before the head moves.
    await writeRecordsOf(job, [lines]);
  }
}

/** Waits until the requests that may read the old generation have ended. */
async function waitForReaders({ runtime, graceMs, step }: Job): Promise<void> {
  const total = Math.round(graceMs / SECOND_MS);
  step({ phase: "wait", done: 0, total });
  for (let waitedMs = 0; waitedMs < graceMs; waitedMs += SECOND_MS) {
    await sleep(runtime, Math.min(graceMs - waitedMs, SECOND_MS));
    step({ phase: "wait", done: Math.min(total, waitedMs / SECOND_MS + 1), total });
  }
}

function fromGeneration(generation: number): KeyRange {
  return { prefix: PROJECTIONS, start: [...PROJECTIONS, generation] };
}

function beforeGeneration(generation: number): KeyRange {
  return { start: [...PROJECTIONS, 1], end: [...PROJECTIONS, generation] };
}

/** Removes records of generations that are not served, whatever their kinds. */
async function remove(
  { store, claim, step }: Job,
  phase: "clear" | "remove",
  range: KeyRange,
): Promise<void> {
  let removed = 0;
  const seal = (entries: readonly StoreEntry[]) => ({
    mutations: entries.map(({ key }): Mutation => ({ type: "delete", key })),
  });
  await writeInCommits(scan(store, range), store.limits, seal, async ({ mutations }) => {
    await claim.commit(mutations);
    removed += mutations.length;
    step({ phase, done: removed });
  });
}
