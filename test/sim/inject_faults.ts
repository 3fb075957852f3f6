import type { Cluster } from "./cluster.ts";
import type { ClusterFaultProfile } from "./fault_profile.ts";
import type { Random } from "./random.ts";

const CLOCK_JUMPS_MS = [10, 1_000, 10_000, 600_000];

/** Longer than a record of an Idempotency-Key is kept, in milliseconds. */
const DAY_JUMP_MS = 26 * 60 * 60 * 1_000;

/** Maximum offset that jumps may give a clock, in milliseconds: half an hour. */
const CLOCK_OFFSET_LIMIT_MS = 1_800_000;

/** Injects the cluster faults of a profile, one after another, until `isOver`. */
export async function injectFaults(
  cluster: Cluster,
  { weights, meanIntervalMs }: ClusterFaultProfile,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  const { simulation, store } = cluster;
  while (!isOver()) {
    await simulation.sleep(random.between(0, 2 * meanIntervalMs));
    const slot = random.integer(0, cluster.size - 1);
    switch (random.weighted(weights)) {
      case "none":
        break;
      case "kill":
        cluster.kill(slot);
        simulation.after(restartMs(random), () => cluster.nodeOf(slot) ?? cluster.start(slot));
        break;
      case "stop":
        cluster.stop(slot).then(() => cluster.nodeOf(slot) ?? cluster.start(slot));
        break;
      case "pause":
        cluster.nodeOf(slot)?.pause(random.between(10, random.pick([100, 3_000, 15_000])));
        break;
      case "clockJump":
        jumpClock(cluster, slot, random);
        break;
      case "dayJump":
        jumpClockByDay(cluster, slot, random, random.between(0, 10_000));
        break;
      case "lostRecord":
        cluster.loseRecord(random);
        break;
      case "outage": {
        const ms = random.between(10, random.pick([200, 3_000, 12_000]));
        store.outage = { until: simulation.now + ms, refuses: random.chance(0.5) };
        simulation.trace(`the store is unavailable for ${ms.toFixed(0)} ms`);
        // Combine faults: clocks may jump while nodes wait for the store.
        for (let other = 0; weights.clockJump > 0 && other < cluster.size; other++) {
          simulation.after(
            random.between(0, Math.min(ms, 3_000)),
            () => jumpClock(cluster, other, random),
          );
        }
        break;
      }
    }
  }
}

/** The service looks at its clock once a minute, so it notices a clock that is right for so long, in milliseconds. */
const NOTICED_MS = 2 * 60_000;

function jumpClock(cluster: Cluster, slot: number, random: Random): void {
  const node = cluster.nodeOf(slot);
  const ms = random.pick(CLOCK_JUMPS_MS) * random.between(-1, 1);
  if (node === undefined) return;
  if (Math.abs(node.now() + ms - cluster.simulation.now) < CLOCK_OFFSET_LIMIT_MS) {
    node.jumpClock(ms);
  }
}

/** Sets a clock more than a day ahead or behind, and back after some time in milliseconds. */
export function jumpClockByDay(
  cluster: Cluster,
  slot: number,
  random: Random,
  backAfterMs: number,
): void {
  const { simulation } = cluster;
  const node = cluster.nodeOf(slot);
  const ms = random.pick([-1, 1, 1]) * DAY_JUMP_MS;
  if (node === undefined) return;
  // Two jumps could keep a clock wrong for longer than the service distrusts it, if it does not notice the time between.
  const from = simulation.now - NOTICED_MS;
  const { earliest, latest } = node.clockBetween(from, simulation.now);
  const isRight = from - earliest < CLOCK_OFFSET_LIMIT_MS &&
    latest - simulation.now < CLOCK_OFFSET_LIMIT_MS;
  if (!isRight) return;
  node.jumpClock(ms);
  simulation.after(backAfterMs, () => node.jumpClock(-ms));
}

function restartMs(random: Random): number {
  return random.between(0, random.pick([10, 1_000, 5_000]));
}
