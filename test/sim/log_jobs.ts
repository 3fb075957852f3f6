/** The operators' jobs on the whole log: export, follow, audit and replay. */

import type { Store } from "../../src/store/store.ts";
import type { Cluster, CommandOptions, RetryingCommandOptions } from "./cluster.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";
import type { SimulatedStore } from "./simulated_store.ts";
import type { Workload } from "./workload.ts";

/** Exports the log. Resolves to its lines. */
export function exportLog(workload: Workload, options?: CommandOptions): Promise<string[]> {
  return runExport(workload, () => ({ from: 1 }), options);
}

/** Exports a part of the log, which may begin and end within a record. */
export async function exportPart(
  workload: Workload,
  random: Random,
  options: CommandOptions,
): Promise<void> {
  await runExport(workload, (position) => {
    const from = random.integer(1, position);
    return { from, to: random.integer(from, position) };
  }, options);
}

async function runExport(
  { cluster, code }: Workload,
  rangeOf: (position: number) => { from: number; to?: number },
  options?: CommandOptions,
): Promise<string[]> {
  const startStep = cluster.simulation.step;
  const lines: string[] = [];
  const { outcome, value, reason } = await cluster.command("export", async ({ store, heads }) => {
    const { position } = (await heads.fresh()).head;
    const range = rangeOf(position);
    for await (const batch of code.readLog(store, { to: position, ...range })) {
      addLines(lines, batch, range.from, cluster);
    }
    return range;
  }, options);
  expectNoDamage(cluster, reason);
  const endStep = cluster.simulation.step;
  if (outcome === "done") cluster.history.exports.push({ ...value!, lines, startStep, endStep });
  return lines;
}

/**
 * Time after the end of the faults within which followLog() must have read the whole log, in milliseconds.
 */
const FOLLOW_LIMIT_MS = 20_000;

/** Follows the log from its first line until some time after `isOver`. Every line must be at its position. */
export async function followLog({ cluster, code }: Workload, isOver: () => boolean): Promise<void> {
  const { simulation } = cluster;
  const lines: string[] = [];
  const stop = new AbortController();
  const following = cluster.command("follow", async ({ store, heads, runtime }) => {
    const deps = { store, heads, runtime, reachable: () => {} };
    for await (const batch of code.followLog(deps, { from: 1, signal: stop.signal })) {
      addLines(lines, batch, 1, cluster);
    }
  });
  while (!isOver()) await simulation.sleep(100);
  const startStep = simulation.step;
  await simulation.sleep(FOLLOW_LIMIT_MS);
  stop.abort();
  const { outcome, reason } = await following;
  if (outcome !== "done") cluster.violations.add(`followLog() failed: ${reason}`);
  cluster.history.exports.push({ from: 1, lines, startStep, endStep: simulation.step });
}

/** Runs an audit. If it completes, it must find no fault, even with concurrent writes. */
export async function auditStore(
  { cluster, code }: Workload,
  { isRequired = false, store = cluster.store }: { isRequired?: boolean; store?: SimulatedStore } =
    {},
): Promise<void> {
  const { oracle, violations, simulation } = cluster;
  const from = oracle.countCommittedBy(oracle.lines, simulation.step);
  const { outcome, value, reason } = await cluster.retryingCommand(
    "audit",
    (deps) => code.audit({ ...deps, readExpiringRecords: () => store.model.expiringRecords() }),
    { store },
  );
  if (outcome !== "done") {
    if (isRequired) violations.add(`The audit failed: ${reason}`);
    return;
  }
  const { sound, position, faults } = value!;
  if (!sound) violations.add(`The audit found ${JSON.stringify(faults.slice(0, 3))}`);
  if (position < from || position > oracle.lines.length) {
    violations.add(`The audit ended at position ${position} although the log had ${from} lines`);
  }
}

/** The fault of a replay. */
export interface ReplayFault extends RetryingCommandOptions {
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
  const replay = (deps: { store: Store; runtime: Node }) =>
    code.replay(deps, {
      progress(phase) {
        if (phase !== "fill" || diesInFillAfterMs === undefined) return;
        simulation.after(diesInFillAfterMs, () => deps.runtime.die());
      },
    });
  const { outcome, value, reason } = await cluster.retryingCommand("replay", replay, options);
  if (outcome === "done") {
    const { total, counts, first } = value!.differences;
    if (total > 0) {
      violations.add(
        `A replay found ${JSON.stringify(counts)}, the first at ${JSON.stringify(first)}`,
      );
    }
  } else if (isRequired) violations.add(`The replay failed: ${reason}`);
  expectNoDamage(cluster, reason);
}

/** Reports a violation if a command reports damage, because the store was never damaged. */
function expectNoDamage({ violations }: Cluster, reason: unknown): void {
  const name = reason instanceof Error ? reason.name : undefined;
  if (name === "UnsoundError" || name === "LogDamagedError") {
    violations.add(`A command reports damage: ${reason}`);
  }
}

/** Adds the lines of a batch to those from position `from` on. */
function addLines(
  lines: string[],
  batch: readonly { position: number; line: Uint8Array }[],
  from: number,
  { violations }: Cluster,
): void {
  for (const { position, line } of batch) {
    const expected = from + lines.length;
    if (position !== expected) violations.add(`Line ${position} was read instead of ${expected}`);
    lines.push(new TextDecoder().decode(line));
  }
}
