import { check } from "./checker.ts";
import type { Code } from "./code.ts";
import { disturb } from "./disturbances.ts";
import { Fleet } from "./fleet.ts";
import type { Ask, Bearer } from "./history.ts";
import { CALM, drawFaultProfile, LATE_MS } from "./fault_profile.ts";
import { restoreElsewhere } from "./restoring.ts";
import { scanAll } from "./oracle.ts";
import {
  auditStore,
  type Crowd,
  exportLog,
  followLog,
  issue,
  replayLog,
  runClient,
  runOperator,
} from "./workload.ts";
import { World } from "./world.ts";

/** The result of simulating one seed. */
export interface Outcome {
  seed: number;
  /** The broken promises; empty if the service kept all of them. */
  violations: readonly string[];
  /** Hash of the whole history. It is the same for every run of the seed on the same code. */
  digest: string;
  requests: number;
  acknowledged: number;
  events: number;
  steps: number;
}

/** Time within which the service must have recovered after the last fault, in milliseconds. */
const RECOVERY_MS = LATE_MS.high + 5_000;

/**
 * Maximum number of events in a world. It is a hundred times the usual number, so a world that reaches it
 * hangs.
 */
const STEP_LIMIT = 400_000;

/** Time within which an instance without requests must have become idle, in milliseconds. */
const REST_LIMIT_MS = 60_000;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Simulates the world of one seed, from an empty store to the last check. */
export async function simulate(
  code: Code,
  seed: number,
  onTrace?: (line: string) => void,
): Promise<Outcome> {
  const world = new World(seed, onTrace);
  const fleet = new Fleet(world, code, world.random.integer(1, 4));
  const { history, oracle, violations } = fleet;
  let isOver = false;
  const living = live(fleet, code).catch((error) =>
    violations.add(`the simulation broke: ${error.stack}`)
  )
    .finally(() => isOver = true);
  if (!await world.run(() => isOver, STEP_LIMIT)) {
    violations.add(`the world does not come to its end; ${fleet.open} requests are open`);
  } else await living;
  check(history, oracle, violations);
  checkStore(fleet);
  const created = history.exchanges.filter(({ answer }) => answer?.status === 201);
  return {
    seed,
    violations: violations.list,
    digest: world.digest(),
    requests: history.exchanges.length,
    acknowledged: created.length,
    events: oracle.lines.length,
    steps: world.step,
  };
}

async function live(fleet: Fleet, code: Code): Promise<void> {
  const { world } = fleet;
  const { random } = world;
  const crowd: Crowd = { fleet, code, keys: [], newestPetId: 0, safeAttempts: [] };
  await issue(crowd, { isKept: true });
  const rounds = random.chance(0.2) ? 2 : 1;
  for (let round = 0; round < rounds; round++) {
    // Continue on the next day, when Idempotency-Keys have expired.
    if (round > 0) await world.sleep(DAY_MS + random.between(-60_000, 120_000));
    await liveThroughFaults(crowd, round);
  }
  if (random.chance(0.1)) await runWithWrongClock(crowd);
  await recover(crowd);
  await comeToRest(fleet);
}

async function liveThroughFaults(crowd: Crowd, round: number): Promise<void> {
  const { fleet } = crowd;
  const { random } = fleet.world;
  fleet.isCalm = false;
  fleet.site.faultProfile = drawFaultProfile(random);
  let isOver = false;
  const clients = random.integer(1, 6);
  const people = Array.from(
    { length: clients },
    (_, client) => runClient(crowd, `r${round}c${client}`, random.integer(3, 15)),
  );
  people.push(runOperator(crowd, random.integer(0, 12)));
  if (random.chance(0.3)) people.push(runOperator(crowd, random.integer(0, 6)));
  const following = random.chance(0.2) ? followLog(crowd, () => isOver) : undefined;
  const disturbing = random.chance(0.8) ? disturb(fleet, () => isOver) : undefined;
  await Promise.all(people);
  isOver = true;
  fleet.site.faultProfile = CALM;
  await disturbing;
  fleet.site.away.until = fleet.world.now;
  await following;
}

/** After the last fault, every instance must soon answer every request again. */
async function recover(crowd: Crowd): Promise<void> {
  const { fleet } = crowd;
  const { world, site } = fleet;
  site.away.until = world.now;
  await world.sleep(RECOVERY_MS);
  for (let slot = 0; slot < fleet.size; slot++) fleet.machineOf(slot) ?? fleet.start(slot);
  fleet.isCalm = true;
  const { keyId, token } = crowd.keys[0];
  const bearer: Bearer = { kind: "key", keyId, token };
  for (let slot = 0; slot < fleet.size; slot++) {
    const name = `last-${slot}`;
    for (
      const ask of [
        { kind: "create", name, categoryId: slot },
        { kind: "list", limit: 100 },
        { kind: "list", status: "sold" },
        { kind: "get", petId: 1 },
      ] as const
    ) await fleet.send(slot, ask, bearer);
  }
  // Instances that create pets at the same moment conflict with each other, but all must succeed.
  await Promise.all(Array.from({ length: 2 * fleet.size }, (_, number) => {
    const ask: Ask = { kind: "create", name: `together-${number}`, categoryId: number };
    return fleet.send(number % fleet.size, ask, bearer);
  }));
  // If a replay was killed, this one continues it. It must leave no unfinished generation.
  await replayLog(crowd, {}, true);
  await auditStore(crowd, { isRequired: true });
  const lines = await exportLog(crowd);
  if (world.random.chance(0.15)) await restoreElsewhere(crowd, lines);
  if (world.random.chance(0.2)) await loseHead(crowd);
}

/** Longer than the store keeps an idempotency record, in milliseconds. */
const IDEMPOTENCY_GONE_MS = 26 * 60 * 60 * 1_000;

/**
 * Sets the clock of one instance days ahead while it creates pets with Idempotency-Keys, then corrects it. By
 * then the store has removed the idempotency records, although by the times of their events they should still
 * exist. This is not a fault.
 */
async function runWithWrongClock({ fleet, keys: [{ keyId, token }] }: Crowd): Promise<void> {
  const { world, site } = fleet;
  const bearer: Bearer = { kind: "key", keyId, token };
  site.away.until = world.now;
  await world.sleep(RECOVERY_MS);
  fleet.kill(0);
  fleet.start(0);
  const machine = fleet.machineOf(0)!;
  const aheadMs = world.random.between(2, 5) * DAY_MS;
  machine.jumpClock(aheadMs);
  for (let number = 0; number < 3; number++) {
    const name = `ahead-${number}`;
    const ask: Ask = { kind: "create", name, categoryId: number, idempotencyKey: `key-of-${name}` };
    await fleet.send(0, ask, bearer);
  }
  machine.jumpClock(-aheadMs);
  await world.sleep(IDEMPOTENCY_GONE_MS);
}

/**
 * Deletes the head or replaces it with an older one. No instance may then answer as if the head were right.
 */
async function loseHead({ fleet, keys: [{ keyId, token }], newestPetId }: Crowd): Promise<void> {
  const { site: { model }, oracle, violations, world } = fleet;
  const bearer: Bearer = { kind: "key", keyId, token };
  // An instance can notice a lost head only if it has seen that head.
  for (let slot = 0; slot < fleet.size; slot++) await fleet.send(slot, { kind: "list" }, bearer);
  const { value } = model.read(["head"])!;
  const head = JSON.parse(value as string);
  const older = JSON.stringify({ ...head, position: head.position - 1 });
  model.damage(
    world.random.chance(0.5)
      ? { type: "delete", key: ["head"] }
      : { type: "set", key: ["head"], value: older },
  );
  world.trace("the head is lost");
  fleet.isCalm = false;
  const lines = oracle.lines.length;
  for (let slot = 0; slot < fleet.size; slot++) {
    const create = { kind: "create", name: `lost-${slot}`, categoryId: slot } as const;
    const asks = [{ kind: "list" }, { kind: "get", petId: newestPetId }, create, { kind: "list" }];
    for (const ask of asks as Ask[]) {
      const status = (await fleet.send(slot, ask, bearer))?.answer?.status;
      if (status !== 503) violations.add(`without its head, a store gives ${ask.kind} ${status}`);
    }
  }
  if (oracle.lines.length > lines) violations.add("lines landed in a store without its head");
  model.damage({ type: "set", key: ["head"], value: value as string });
  world.trace("the head is back");
  fleet.isCalm = true;
  for (let slot = 0; slot < fleet.size; slot++) {
    await fleet.send(slot, { kind: "list", limit: 100 }, bearer);
  }
}

/** Checks that the store holds exactly what the log says: the served generation, the log and the head. */
function checkStore({ site: { model }, oracle, violations }: Fleet): void {
  const generation = oracle.servedGeneration;
  oracle.checkGeneration(generation, model);
  const { building, removing } = JSON.parse(model.read(["head"])!.value as string);
  if (building !== undefined || removing !== undefined) {
    violations.add(`the head is left building ${building} and removing ${removing}`);
  }
  for (const { key } of scanAll(model, [])) {
    const [space, second] = key;
    const isOurs = space === "projection" ? second === generation : space === "log" ||
      space === "head";
    if (!isOurs) violations.add(`the store is left with ${JSON.stringify(key)}`);
  }
}

/** Checks that idle instances have no timers, then shuts them down. */
async function comeToRest(fleet: Fleet): Promise<void> {
  await fleet.world.sleep(REST_LIMIT_MS);
  for (let slot = 0; slot < fleet.size; slot++) {
    const { name, timers } = fleet.machineOf(slot)!;
    if (timers > 0) fleet.violations.add(`${name} still waits for ${timers} timers`);
    await fleet.stop(slot);
  }
}
