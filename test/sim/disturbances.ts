import type { Fleet } from "./fleet.ts";
import type { Random } from "./random.ts";

/** Mean times between two disturbances, in milliseconds. Every seed picks one. */
const PACES_MS = [300, 2_000, 10_000];

const CLOCK_JUMPS_MS = [10, 1_000, 10_000, 600_000];

/** Maximum offset that jumps may give a clock, in milliseconds: half an hour. */
const CLOCK_LIMIT_MS = 1_800_000;

/** Kills, stops and pauses nodes, makes clocks jump and takes the store away, until `isOver`. */
export async function disturb(fleet: Fleet, isOver: () => boolean): Promise<void> {
  const { world, site } = fleet;
  const random = world.random.fork();
  const weights = {
    nothing: 1,
    kill: random.pick([0, 1, 3]),
    stop: random.pick([0, 1]),
    pause: random.pick([0, 1, 2]),
    jump: random.pick([0, 1, 1]),
    away: random.pick([0, 1, 2]),
  };
  const pace = random.pick(PACES_MS);
  while (!isOver()) {
    await world.sleep(random.between(0, 2 * pace));
    const slot = random.integer(0, fleet.size - 1);
    switch (random.weighted(weights)) {
      case "nothing":
        break;
      case "kill":
        fleet.kill(slot);
        world.after(restartMs(random), () => fleet.machineOf(slot) ?? fleet.start(slot));
        break;
      case "stop":
        fleet.stop(slot).then(() => fleet.machineOf(slot) ?? fleet.start(slot));
        break;
      case "pause":
        fleet.machineOf(slot)?.pause(random.between(10, random.pick([100, 3_000, 15_000])));
        break;
      case "jump":
        jumpClock(fleet, slot, random);
        break;
      case "away": {
        const ms = random.between(10, random.pick([200, 3_000, 12_000]));
        site.away = { until: world.now + ms, refuses: random.chance(0.5) };
        world.trace(`the store is away for ${ms.toFixed(0)} ms`);
        // Combine faults: clocks may jump while nodes wait for the store.
        for (let other = 0; weights.jump > 0 && other < fleet.size; other++) {
          world.after(
            random.between(0, Math.min(ms, 3_000)),
            () => jumpClock(fleet, other, random),
          );
        }
        break;
      }
    }
  }
}

function jumpClock(fleet: Fleet, slot: number, random: Random): void {
  const machine = fleet.machineOf(slot);
  const ms = random.pick(CLOCK_JUMPS_MS) * random.between(-1, 1);
  if (machine === undefined) return;
  if (Math.abs(machine.now() + ms - fleet.world.now) < CLOCK_LIMIT_MS) machine.jumpClock(ms);
}

function restartMs(random: Random): number {
  return random.between(0, random.pick([10, 1_000, 5_000]));
}
