/** The operators' jobs on the whole log: export, audit, replay and restore. */

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Cluster, CommandOptions } from "./cluster.ts";
import { drawStoreFaultProfile, LATE_MS, NO_FAULTS } from "./fault_profile.ts";
import { wantedAfter } from "./delivery_checker.ts";
import type { ModelStore } from "./model_store.ts";
import { textOf } from "./oracle.ts";
import type { Receivers } from "./receivers.ts";
import { SimulatedStore } from "./simulated_store.ts";
import type { Fault } from "../../src/eventstore_less/tools/verify/findings.ts";
import type { Workload } from "./workload.ts";

/** Exports the log, or the part of it that `rangeOf` picks, and compares it. Resolves to the lines. */
export async function exportLog(
  { cluster, code }: Workload,
  options?: CommandOptions,
  rangeOf = (position: number) => ({ from: 1, to: position }),
): Promise<string[]> {
  const { oracle, simulation, violations } = cluster;
  const startStep = simulation.step;
  const lines: string[] = [];
  const { isDone, value, reason } = await cluster.command("export", async ({ store, heads }) => {
    const { position } = (await heads.fresh()).head;
    const range = rangeOf(position);
    for await (const batch of code.readLog(store, range)) {
      lines.push(...batch.map(({ line }) => new TextDecoder().decode(line)));
    }
    return { ...range, position };
  }, options);
  expectNoDamage(cluster, reason);
  if (!isDone) {
    if (cluster.hasRecovered) violations.push(`The export failed: ${reason}`);
    return lines;
  }
  const { from, to, position } = value!;
  const expected = oracle.lines.slice(from - 1, to).map(({ text }) => text);
  if (position < oracle.countCommittedBy(startStep) || !isDeepStrictEqual(lines, expected)) {
    violations.push(`An export from ${from} to ${to} differs from the log, or ends too early`);
  }
  return lines;
}

/** Runs an audit. If it completes, it must find no fault but lost records, even with concurrent writes. */
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
  const { position, faults, notes, unfinished } = value!;
  if (isRequired && unfinished !== undefined) {
    violations.push(`The audit has no result: ${unfinished}`);
  }
  const isExplained = ({ kind, position = 0 }: Fault) =>
    !isRequired && kind === "record_missing" && oracle.lostPositions.has(position);
  const unexplained = faults.filter((fault) => !isExplained(fault));
  if (unexplained.length > 0) {
    violations.push(`The audit found ${JSON.stringify(unexplained.slice(0, 3))}`);
  }
  for (const { kind, message, positions } of notes) {
    if (kind !== "idempotency_key_repeated" || oracle.mayRepeat(positions!)) continue;
    violations.push(`The audit noted, although no record was lost: ${message}`);
  }
  if (position < from || position > oracle.lines.length) {
    violations.push(`The audit ended at position ${position} although the log had ${from} lines`);
  }
}

export interface ReplayFault extends CommandOptions {
  /** Time after which the node dies once the replay fills the new generation, in milliseconds. */
  diesInFillAfterMs?: number;
}

/** Audits what is served, and then runs a replay, which must end or fail because another one was started. */
export async function replayLog(
  workload: Workload,
  { diesInFillAfterMs, ...options }: ReplayFault = {},
  isRequired = false,
): Promise<void> {
  const { cluster, code } = workload;
  const { violations, simulation } = cluster;
  // A replay repairs the records, so the last audit cannot find what was wrong with them.
  await auditStore(workload);
  const { isDone, reason } = await cluster.retryingCommand("replay", (deps) => {
    return code.replay(deps, {
      step({ phase }) {
        if (phase !== "fill" || diesInFillAfterMs === undefined) return;
        simulation.after(diesInFillAfterMs, () => deps.runtime.die());
      },
    });
  }, options);
  if (!isDone && isRequired) violations.push(`The replay failed: ${reason}`);
  expectNoDamage(cluster, reason);
}

/** An export in which a removed pet is removed once more must be refused, although its chain of hashes is right. */
export async function refuseForgedExport(
  { cluster: { oracle, violations }, code, keys: [{ keyId }] }: Workload,
): Promise<void> {
  const last = oracle.lines.at(-1)!;
  const removal = oracle.removedAt(oracle.lines.length).find(({ event }) => event.actor === keyId);
  if (removal === undefined) return;
  const number = String(last.position + 1);
  const forged = {
    ...removal.event,
    id: number.padStart(26, "0"),
    time: last.event.time,
    sequence: number.padStart(16, "0"),
    previoushash: createHash("sha256").update(last.text).digest("hex"),
    idempotencykey: undefined,
  };
  const lines = [...oracle.lines.map(({ text }) => text), JSON.stringify(forged)];
  const source = () => ReadableStream.from([new TextEncoder().encode(`${lines.join("\n")}\n`)]);
  const outcome = await code.verifyExport(source).then(() => "accepted", String);
  if (!/removed before/.test(outcome)) violations.push(`A forged export gets ${outcome}`);
}

/** Number of runs of a restore under faults, most of them killed, before the faults stop. */
const FAULTY_RUNS = 4;

const CHUNK_BYTES = 1_000;

/** Restores an export into another store despite faults, and compares the log there with the first one. */
export async function restoreIntoAnotherStore(
  workload: Workload,
  lines: string[],
): Promise<void> {
  const { cluster, code } = workload;
  const { simulation, violations } = cluster;
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
  store.faultProfile = NO_FAULTS;
  await exportLog(workload, { store });
  await auditStore(workload, true, { store });
  if (cluster.receivers !== undefined) await deliverAfterRestore(cluster, cluster.receivers, store);
}

/** Number of the last events that are delivered again after a restore. */
const DELIVERED_AGAIN = 20;

/** The places of webhooks are in no export, so nothing is sent until somebody names new ones. */
async function deliverAfterRestore(
  cluster: Cluster,
  { delivered }: Receivers,
  store: SimulatedStore,
): Promise<void> {
  const { oracle, violations } = cluster;
  // What is sent from here on is no delivery of the first store.
  const before = delivered.length;
  await cluster.deliverFrom(store, 30_000);
  const early = delivered.splice(before).length;
  if (early > 0) violations.push(`${early} events were sent from a store after its restore`);
  const place = Math.max(0, oracle.lines.length - DELIVERED_AGAIN);
  const wanted = wantedAfter(oracle, place);
  await cluster.deliverFrom(store, 60_000, async ({ eventStore }) => {
    for (const id of wanted.keys()) await eventStore.placeConsumer(`webhooks/${id}`, place);
  });
  const sent = Map.groupBy(delivered.splice(before), ({ url }) => url);
  for (const { url, ids } of wanted.values()) {
    const got = (sent.get(url) ?? []).map(({ headers }) => headers["webhook-id"]);
    if (isDeepStrictEqual(got, ids)) continue;
    violations.push(`After a restore, ${url} got ${got} instead of ${ids}`);
  }
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
