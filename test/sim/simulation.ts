import { setImmediate } from "node:timers";
import { Random } from "./random.ts";

/** The true time at which every simulation starts, in milliseconds since the Unix epoch. */
export const SIMULATION_START_MS = Date.parse("2026-01-01T00:00:00.000Z");

interface ScheduledEvent {
  at: number;
  run: () => void;
}

/** The event loop of one seed, which decides all. Its time advances only from event to event. */
export class Simulation {
  readonly random: Random;
  /** True time, in milliseconds since the Unix epoch, with a fraction. */
  now = SIMULATION_START_MS;
  /** Number of events so far. An event with a smaller step happened earlier. */
  step = 0;
  readonly #onTrace: ((line: string) => void) | undefined;
  /** In order of time; events of the same time in the order of their scheduling. */
  #queue: ScheduledEvent[] = [];

  constructor(seed: number, onTrace?: (line: string) => void) {
    this.random = new Random(seed);
    this.#onTrace = onTrace;
  }

  /** Schedules `run` after a time in milliseconds. The returned function cancels it. */
  after(ms: number, run: () => void): () => void {
    const event = { at: this.now + Math.max(0, ms), run };
    const queue = this.#queue;
    queue.splice(queue.findLastIndex(({ at }) => at <= event.at) + 1, 0, event);
    return () => {
      const index = queue.indexOf(event);
      if (index !== -1) queue.splice(index, 1);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Adds a line to the trace, which must be the same for every run of the seed. */
  trace(text: string): void {
    this.#onTrace?.(`${(this.now - SIMULATION_START_MS).toFixed(3)} #${this.step} ${text}`);
  }

  /** Runs events in order, each until all promises settle. Resolves to `isOver`, or to false if it cannot go on. */
  async run(isOver: () => boolean, stepLimit: number): Promise<boolean> {
    await settled();
    while (!isOver()) {
      if (this.step >= stepLimit) return false;
      const next = this.#queue.shift();
      if (next === undefined) return false;
      this.now = next.at;
      this.step++;
      next.run();
      await settled();
    }
    return true;
  }
}

/** Resolves when no promise can make progress. The code under test waits for no real timer or I/O. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
