/** The operators' jobs on the whole log: export, follow, audit, replay and restore. */

import { createHash } from "node:crypto";
import type { Cluster, CommandOptions } from "./cluster.ts";
import { drawStoreFaultProfile, LATE_MS, NO_FAULTS } from "./fault_profile.ts";
import type { ModelStore } from "./model_store.ts";
import { GENESIS, textOf } from "./oracle.ts";
import { SimulatedStore } from "./simulated_store.ts";
import type { Workload } from "./workload.ts";

/** Exports the log, or the part of it that `rangeOf` picks. Resolves to the lines. */
export async function exportLog(
  { cluster, code }: Workload,
  options?: CommandOptions,
  rangeOf = (position: number) => ({ from: 1, to: position }),
): Promise<string[]> {
  const startStep = cluster.simulation.step;
  const lines: string[] = [];
  const { isDone, value, reason } = await cluster.command("export", async ({ store, heads }) => {
    const { position } = (await heads.fresh()).head;
    const range = rangeOf(position);
    for await (const batch of code.readLog(store, range)) lines.push(...textsOf(batch));
    return { from: range.from, to: range.to === position ? undefined : range.to };
  }, options);
  expectNoDamage(cluster, reason);
  const endStep = cluster.simulation.step;
  if (isDone) cluster.history.exports.push({ ...value!, lines, startStep, endStep });
  return lines;
}

/**
 * Time after the end of the faults within which followLog() must have read the whole log, in milliseconds.
 */
const FOLLOW_LIMIT_MS = 20_000;

/** Follows the log from its first line until some time after `isOver`. */
export async function followLog({ cluster, code }: Workload, isOver: () => boolean): Promise<void> {
  const { simulation } = cluster;
  const lines: string[] = [];
  const stop = new AbortController();
  const following = cluster.command("follow", async ({ store, heads, runtime }) => {
    const deps = { store, heads, runtime, reachable: () => {} };
    for await (const batch of code.followLog(deps, { from: 1, signal: stop.signal })) {
      lines.push(...textsOf(batch));
    }
  });
  while (!isOver()) await simulation.sleep(100);
  const startStep = simulation.step;
  await simulation.sleep(FOLLOW_LIMIT_MS);
  stop.abort();
  const { isDone, reason } = await following;
  if (!isDone) cluster.violations.push(`followLog() failed: ${reason}`);
  cluster.history.exports.push({ from: 1, lines, startStep, endStep: simulation.step });
}

/** Runs an audit. If it completes, it must find no fault, even with concurrent writes. */
export async function auditStore(
  { cluster, code }: Workload,
  isRequired = false,
  options?: CommandOptions,
): Promise<void> {
  const { oracle, violations, simulation } = cluster;
  const from = oracle.countCommittedBy(simulation.step);
  const { isDone, value, reason } = await cluster.retryingCommand("audit", code.audit, options);
  if (!isDone) {
    if (isRequired) violations.push(`The audit failed: ${reason}`);
    return;
  }
  const { sound, position, faults } = value!;
  if (!sound) violations.push(`The audit found ${JSON.stringify(faults.slice(0, 3))}`);
  if (position < from || position > oracle.lines.length) {
    violations.push(`The audit ended at position ${position} although the log had ${from} lines`);
  }
}

/** The fault of a replay. */
export interface ReplayFault extends CommandOptions {
  /** Time after which the node dies once the replay fills the new generation, in milliseconds. */
  diesInFillAfterMs?: number;
}

/**
 * Runs a replay. It must find no differences in the old projections, or fail because another replay is
 * running.
 */
export async function replayLog(
  { cluster, code }: Workload,
  { diesInFillAfterMs, ...options }: ReplayFault = {},
  isRequired = false,
): Promise<void> {
  const { violations, simulation } = cluster;
  const { isDone, value, reason } = await cluster.retryingCommand("replay", (deps) => {
    return code.replay(deps, {
      progress(phase) {
        if (phase !== "fill" || diesInFillAfterMs === undefined) return;
        simulation.after(diesInFillAfterMs, () => deps.runtime.die());
      },
    });
  }, options);
  if (isDone) {
    const { differences } = value!;
    if (differences.total > 0) violations.push(`A replay found ${JSON.stringify(differences)}`);
  } else if (isRequired) violations.push(`The replay failed: ${reason}`);
  expectNoDamage(cluster, reason);
}

/** Number of runs of a restore under faults, most of them killed, before the faults stop. */
const FAULTY_RUNS = 4;

const CHUNK_BYTES = 1_000;

/**
 * Restores an export into another store despite faults, and compares the result with the log of the first
 * store. Resolves to the other store, `undefined` if the restore failed.
 */
export async function restoreIntoAnotherStore(
  workload: Workload,
  lines: string[],
): Promise<SimulatedStore | undefined> {
  const { cluster, code } = workload;
  const { simulation, oracle, violations } = cluster;
  const random = simulation.random.fork();
  const store = new SimulatedStore(simulation);
  store.faultProfile = drawStoreFaultProfile(random);
  cluster.faultProfiles.push({ phase: "restore", store: store.faultProfile });
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  async function* source() {
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      yield await Promise.resolve(bytes.subarray(start, start + CHUNK_BYTES));
    }
  }
  // Until a restore is complete, its mark stands under the key of the head.
  const head = () => headRecordOf(store.model);
  for (let run = 1; head().generation === undefined; run++) {
    const isFaulty = run <= FAULTY_RUNS;
    if (run === FAULTY_RUNS + 1) {
      store.faultProfile = NO_FAULTS;
      // Commits of killed runs that are still in flight arrive within this time.
      await simulation.sleep(LATE_MS.high + 1_000);
    }
    const { isDone, reason } = await cluster.retryingCommand("restore", async (deps) => {
      await code.restore(deps, source, await code.verifyExport(source));
    }, isFaulty ? { store, diesAfterMs: random.between(0, 100) } : { store });
    if (head().generation !== undefined) break;
    if (!isDone && isFaulty) continue;
    violations.push(`The restore is incomplete without faults: ${reason ?? "it succeeded"}`);
    return;
  }
  oracle.checkLog(store.model);
  oracle.checkGeneration(head().generation, store.model);
  await auditStore(workload, true, { store });
  return store;
}

/** Verifies an export with a false former value in one change, and true hashes. It must be refused. */
export async function verifyForgedExport(
  { cluster: { simulation, violations }, code }: Workload,
  lines: readonly string[],
): Promise<void> {
  const changes = lines.filter((line) => line.includes(`"type":"PetUpdated"`));
  const forged = simulation.random.pick(changes);
  if (forged === undefined) return;
  let hash = GENESIS;
  const bytes = lines.map((line) => {
    let text = line.replace(/"previoushash":"[^"]*"/, `"previoushash":"${hash}"`);
    if (line === forged) {
      const { previous } = JSON.parse(line).data;
      const other = Object.assign({ name: "" }, previous, { name: "A name of no pet" });
      text = text.replace(/"previous":.*/s, `"previous":${JSON.stringify(other)}}}`);
    }
    hash = createHash("sha256").update(text).digest("hex");
    return new TextEncoder().encode(`${text}\n`);
  });
  const isRefused = await code.verifyExport(() => ReadableStream.from(bytes))
    .then(() => false, () => true);
  if (!isRefused) violations.push(`An export passes with a false former value in ${forged}`);
}

/** The record under the head's key; an empty one if there is none. */
export function headRecordOf(model: ModelStore) {
  const entry = model.read(["head"]);
  return entry === null ? {} : JSON.parse(textOf(entry));
}

/** Reports a violation if a command reports damage, because the store was never damaged. */
function expectNoDamage({ violations }: Cluster, reason: unknown): void {
  const name = reason instanceof Error ? reason.name : undefined;
  if (name === "UnsoundError" || name === "LogDamagedError") {
    violations.push(`A command reports damage: ${reason}`);
  }
}

function textsOf(batch: readonly { line: Uint8Array }[]): string[] {
  return batch.map(({ line }) => new TextDecoder().decode(line));
}
