/**
 * Simulates the service: one seed decides everything that happens, so a failure can be repeated exactly.
 *
 *     seed -> Simulation: simulated time, one queue of events, all randomness
 *
 *       Workload               Cluster of Nodes                 SimulatedStore
 *     +-----------+ requests +------------------+             +----------------+
 *     | clients   | -------> | the real service | StoreClient | ModelStore, an |
 *     | operators | -------> | or a real tool   | ----------> | exact Deno KV  |
 *     +-----------+ commands +------------------+             +----------------+
 *           |                   ^ kill, stop,     ^ failed,      ^ outage   |
 *           |                   | pause,          | lost or      |          |
 *           |                   | clock jump      | late calls   |          |
 *           |                   +-- FaultProfile -+--------------+          |
 *           | requests,                                                     | every
 *           v responses                                                     v commit
 *       Exchanges -----------------> Checker <--------------------------- Oracle
 *                                       |                                   |
 *                                       +----------> violations <-----------+
 *
 * - A node is one process. It runs an instance of the service, or one tool of an operator.
 * - The oracle sees every commit, so it knows the true log. It checks the hash chain and the head.
 * - The checker compares each exchange with the oracle when it ends, and all of them at the end. Examples: the log holds
 *   every acknowledged write exactly once; the store held every returned page at the head that its response names; the
 *   service never accepted a revoked key.
 *
 * In some seeds, clients also send batches, or name categories. The checker sees the writes of a batch as single requests.
 *
 * In some seeds, receivers get the events by webhooks. What arrives is compared with the log and with the stored places.
 *
 * In some seeds, consumers follow the feed of events, and each compares at once what it gets with the oracle's log.
 * In some, the store allows only small commits, so that a batch, a replay and a restore take many.
 *
 * A seed runs one or two rounds of faults. Then the faults stop, and every instance must serve every request.
 * A shutdown runs the code of production, `shutDown()`.
 *
 * A failing seed prints its violations and its fault profile. `deno task sim --seed N --trace` repeats it, as
 * long as neither the service nor the simulator changes.
 *
 * A mutant is the service with one deliberate fault, in a port or in its code (`mutants.ts`). The simulator must find every
 * mutant, which proves that its checks work: `deno task sim --mutants`.
 */

import { checkExchange, checkLog } from "./checker.ts";
import { runClient } from "./client.ts";
import { drawConsumers } from "./consumer.ts";
import { Cluster } from "./cluster.ts";
import { drawKinds, DRAWS, drawUpdate } from "./draws.ts";
import {
  drawClusterFaultProfile,
  drawStoreFaultProfile,
  type FaultProfile,
  LATE_MS,
  NO_FAULTS,
} from "./fault_profile.ts";
import type { ListOperation } from "./history.ts";
import { injectFaults, jumpClockByDay } from "./inject_faults.ts";
import type { Code } from "./code_under_test.ts";
import { checkDeliveries, missingEvents } from "./delivery_checker.ts";
import {
  auditStore,
  exportLog,
  refuseForgedExport,
  replayLog,
  restoreIntoAnotherStore,
} from "./log_jobs.ts";
import { issueApiKey, runOperator } from "./operator.ts";
import { Random } from "./random.ts";
import { Receivers } from "./receivers.ts";
import { Simulation } from "./simulation.ts";
import { runUpdates, send, type Workload } from "./workload.ts";

export interface SimulationResult {
  seed: number;
  /** The broken promises; empty if the service kept all of them. */
  violations: readonly string[];
  instances: number;
  faultProfiles: readonly FaultProfile[];
  requests: number;
  events: number;
  /** Number of events whose commit has an earlier event of the same pet or key. */
  shared: number;
}

/** Time within which the service must have recovered after the last fault, in milliseconds. */
const RECOVERY_MS = LATE_MS.high + 5_000;

/**
 * Maximum number of steps. Few seeds take a tenth of it, and some two fifths, in which the only instance pauses nearly all
 * the time. So a simulation that reaches it hangs.
 */
const STEP_LIMIT = 150_000;

/** Time within which an instance without requests must have become idle, in milliseconds. */
const IDLE_LIMIT_MS = 60_000;

/** Time within which all events must be delivered after the last fault: the pauses after failures are as long as these. */
const DELIVERY_LIMIT_MS = 1_800_000;

const MINUTE_MS = 60 * 1_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Simulates one seed, from an empty store to the last check, or only to the first violation. `onTrace` gets each line. */
export async function simulate(
  code: Code,
  seed: number,
  { onTrace, stopsAtViolation = false }: {
    onTrace?: (line: string) => void;
    stopsAtViolation?: boolean;
  } = {},
): Promise<SimulationResult> {
  const simulation = new Simulation(seed, onTrace);
  const size = simulation.random.integer(1, 4);
  const ofWebhooks = new Random(~seed);
  // Their deliveries look at the store each second, so these seeds have no days without requests.
  const receivers = ofWebhooks.chance(0.4) ? new Receivers(simulation, ofWebhooks) : undefined;
  const cluster = new Cluster(simulation, code, size, receivers);
  const { exchanges, oracle, violations } = cluster;
  let isOver = false;
  runPhases(cluster, code, new Random(-seed))
    .catch((error) => violations.push(`The simulator failed: ${error.stack}`))
    .finally(() => isOver = true);
  const isStopped = () => stopsAtViolation && violations.length > 0;
  const hasEnded = await simulation.run(() => isOver || isStopped(), STEP_LIMIT);
  if (!hasEnded) violations.push("The simulation does not end");
  const open = exchanges.filter(({ endStep }) => endStep === Infinity);
  violations.push(...open.flatMap((exchange) => checkExchange(exchange, oracle)));
  violations.push(...checkLog(exchanges, oracle));
  if (receivers !== undefined) {
    violations.push(...checkDeliveries(receivers, oracle, cluster.soundFrom));
  }
  checkStore(cluster);
  return {
    seed,
    violations,
    instances: cluster.size,
    faultProfiles: cluster.faultProfiles,
    requests: exchanges.length,
    events: oracle.lines.length,
    shared: oracle.lines.filter(({ isShared }) => isShared).length,
  };
}

async function runPhases(cluster: Cluster, code: Code, ownRandom: Random): Promise<void> {
  const { simulation } = cluster;
  const { random } = simulation;
  const workload: Workload = {
    cluster,
    code,
    clocksJump: false,
    keys: [],
    newestPetId: 0,
    removedPets: new Set(),
    tags: 0,
    known: { pet: new Map(), category: new Map() },
    kinds: drawKinds(random),
    consumers: [],
    idempotentWrites: [],
  };
  if (await issueApiKey(workload, { isKept: true }) === undefined) return;
  workload.consumers = drawConsumers(workload, ownRandom);
  const rounds = random.chance(0.2) && cluster.receivers === undefined ? 2 : 1;
  for (let round = 1; round <= rounds; round++) {
    // Continue on the next day, when Idempotency-Keys have expired.
    if (round > 1) await simulation.sleep(DAY_MS + random.between(-60_000, 120_000));
    await runRound(workload, round);
  }
  if (ownRandom.chance(0.3) && cluster.receivers === undefined) {
    await runSweeps(workload, ownRandom);
  }
  await expectRecovery(workload);
  await expectIdle(cluster);
}

/** Runs clients and operators while faults occur. */
async function runRound(workload: Workload, round: number): Promise<void> {
  const { cluster, consumers } = workload;
  const { receivers, simulation, store } = cluster;
  const { random } = simulation;
  const profile: FaultProfile = { phase: `round ${round}`, store: drawStoreFaultProfile(random) };
  cluster.faultProfiles.push(profile);
  store.faultProfile = profile.store;
  let isOver = false;
  const users = Array.from(
    { length: random.integer(1, 6) },
    (_, client) => runClient(workload, `r${round}c${client}`, random.integer(3, 15)),
  );
  users.push(runOperator(workload, random.integer(0, 12)));
  if (random.chance(0.3)) users.push(runOperator(workload, random.integer(0, 6)));
  const consuming = consumers.map((consumer) => consumer.follow(() => isOver));
  const owning = receivers?.own(workload, () => isOver);
  let injecting: Promise<void> | undefined;
  if (random.chance(0.8)) {
    const ownRandom = random.fork();
    profile.cluster = drawClusterFaultProfile(ownRandom);
    workload.clocksJump = profile.cluster.weights.clockJump > 0;
    injecting = injectFaults(cluster, profile.cluster, ownRandom, () => isOver);
  }
  await Promise.all(users);
  isOver = true;
  workload.clocksJump = false;
  store.faultProfile = NO_FAULTS;
  await injecting;
  store.outage.until = simulation.now;
  await Promise.all(consuming);
  await owning;
}

/**
 * Lets Idempotency-Keys expire while nothing is written, and then while clocks are wrong for shorter than the sweeps
 * distrust them. The oracle checks what they remove.
 */
async function runSweeps(workload: Workload, random: Random): Promise<void> {
  const { cluster, keys: [key] } = workload;
  const { simulation } = cluster;
  await simulation.sleep(random.between(26, 30) * HOUR_MS);
  for (let number = 0; number < 6; number++) {
    const slot = random.integer(0, cluster.size - 1);
    if (cluster.nodeOf(slot) === undefined) cluster.start(slot);
    const backAfterMs = random.between(0, 50 * MINUTE_MS);
    if (random.chance(0.7)) jumpClockByDay(cluster, slot, random, backAfterMs);
    const drawn = drawUpdate(workload, random);
    const write = { ...drawn, idempotencyKey: `sweep-${number}` };
    workload.idempotentWrites.push({ write, key });
    const repeated = random.pick(workload.idempotentWrites);
    await send(workload, slot, write, key);
    await send(workload, slot, repeated.write, repeated.key);
    await simulation.sleep(random.between(1, 180) * MINUTE_MS);
  }
}

/** What every instance must serve after the last fault, in this order. */
const SERVED: (keyof typeof DRAWS)[] = [
  "create",
  "update",
  "remove",
  "restore",
  "get",
  "batch",
  "nameCategory",
  "listCategories",
  "getCategory",
  "removeCategory",
  "nameCategory",
  "listCategories",
];

/** After the last fault, every instance must soon serve every request again. */
async function expectRecovery(workload: Workload): Promise<void> {
  const { cluster, consumers } = workload;
  const { simulation } = cluster;
  await simulation.sleep(RECOVERY_MS);
  for (let slot = 0; slot < cluster.size; slot++) cluster.nodeOf(slot) ?? cluster.start(slot);
  cluster.hasRecovered = true;
  cluster.soundFrom = simulation.now;
  const [key] = workload.keys;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const consuming = consumers.map((consumer) => consumer.catchUp(over));
  const settling = cluster.receivers?.settle(workload);
  for (let slot = 0; slot < cluster.size; slot++) {
    const name = `last-${slot}`;
    for (const kind of SERVED) {
      const request = DRAWS[kind](workload, simulation.random, { name });
      await send(workload, slot, request, key);
    }
    const lists: ListOperation[] = [
      { kind: "list", removed: true },
      { kind: "list", limit: 100 },
      { kind: "list", status: "sold" },
      { kind: "list", categoryId: slot },
      { kind: "list", ids: [1, 2, workload.newestPetId] },
    ];
    for (const list of lists) await send(workload, slot, list, key);
  }
  // Instances that write at the same moment conflict with each other, but none may fail.
  await runUpdates(workload, key, 2 * cluster.size, 0);
  await Promise.all(Array.from({ length: 2 * cluster.size }, (_, number) => {
    const operation = { kind: "create", name: `together-${number}`, categoryId: number } as const;
    return cluster.send(number % cluster.size, operation, key);
  }));
  // With small commits, a generation is filled by several. Kill replays between them.
  for (let run = 0; simulation.random.chance(0.5) && run < 3; run++) {
    await replayLog(workload, { diesInFillAfterMs: simulation.random.between(0, 10) });
  }
  // The first commit of a killed replay may still be on its way, and would take over from the next one.
  await simulation.sleep(1_000);
  // If a replay was killed, this one begins again. It must leave no unfinished generation.
  const replaying = replayLog(workload, {}, true);
  const updating = runUpdates(workload, key, 10, simulation.random.pick([20, 100, 500]));
  await updating;
  await replaying;
  end();
  await Promise.all(consuming);
  await settling;
  await expectDeliveries(cluster);
  await auditStore(workload, true);
  const lines = await exportLog(workload);
  await refuseForgedExport(workload);
  if (simulation.random.chance(0.2)) await restoreIntoAnotherStore(workload, lines);
}

/** After the last fault, each receiver must get all events. */
async function expectDeliveries({ oracle, receivers, simulation, violations }: Cluster) {
  if (receivers === undefined) return;
  const end = simulation.now + DELIVERY_LIMIT_MS;
  while (missingEvents(receivers, oracle) > 0 && simulation.now < end) {
    await simulation.sleep(5_000);
  }
  const missing = missingEvents(receivers, oracle);
  if (missing > 0) violations.push(`Receivers still wait for ${missing} events`);
}

/** Spaces of records that the store may hold at the end. An instance that died may have left its turn request. */
const LASTING_SPACES = ["~log", "head", "turn_request", "consumers", "unlogged"];

/** Checks that the store holds nothing but the log, the head, the served generation and turn requests. */
function checkStore({ store: { model }, oracle, violations }: Cluster): void {
  for (const { key } of model.all([])) {
    const [space, second] = key;
    const isExpected = space === "projection"
      ? second === oracle.servedGeneration
      : LASTING_SPACES.includes(space as string);
    if (!isExpected) violations.push(`At the end, the store holds ${JSON.stringify(key)}`);
  }
}

/** Checks that idle instances have no timers but that of the next look at the clock, then shuts them down. */
async function expectIdle(cluster: Cluster): Promise<void> {
  await cluster.stopDeliveries();
  await cluster.simulation.sleep(IDLE_LIMIT_MS);
  for (let slot = 0; slot < cluster.size; slot++) {
    const { name, pendingTimers } = cluster.nodeOf(slot)!;
    if (pendingTimers > 1) cluster.violations.push(`Idle ${name} has ${pendingTimers} timers`);
    await cluster.stop(slot);
  }
}
