import { createHash } from "node:crypto";
import { setImmediate } from "node:timers";
import { Random } from "./random.ts";

/** The true time at which every simulation starts, in milliseconds since the Unix epoch. */
export const SIMULATION_START_MS = Date.parse("2026-01-01T00:00:00.000Z");

interface ScheduledEvent {
  at: number;
  order: number;
  run: (() => void) | undefined;
}

/**
 * The event loop of one seed. Its time advances only from event to event, and all randomness comes from the
 * seed.
 */
export class Simulation {
  readonly random: Random;
  /** True time, in milliseconds since the Unix epoch, with a fraction. */
  now = SIMULATION_START_MS;
  /** Number of events so far. An event with a smaller step happened earlier. */
  step = 0;
  /** Receives every trace line. */
  readonly #onTrace: ((line: string) => void) | undefined;
  #queue: ScheduledEvent[] = [];
  #order = 0;
  #digest = createHash("sha256");

  constructor(seed: number, onTrace?: (line: string) => void) {
    this.random = new Random(seed);
    this.#onTrace = onTrace;
  }

  /** Schedules `run` after a time in milliseconds. The returned function cancels it. */
  after(ms: number, run: () => void): () => void {
    const event: ScheduledEvent = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    this.#push(event);
    return () => void (event.run = undefined);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Adds a line to the trace, which must be the same for every run of the seed. */
  trace(text: string): void {
    const line = `${(this.now - SIMULATION_START_MS).toFixed(3)} #${this.step} ${text}`;
    this.#digest.update(`${line}\n`);
    this.#onTrace?.(line);
  }

  /** The hash of the trace. Call it once, at the end. */
  digest(): string {
    return this.#digest.digest("hex");
  }

  /**
   * Runs events in order, and settles all promises after each, until `isOver`. Stops early if no event is
   * left or at `stepLimit`. Returns whether `isOver`.
   */
  async run(isOver: () => boolean, stepLimit: number): Promise<boolean> {
    await settled();
    while (!isOver()) {
      const next = this.#queue[0];
      if (next === undefined || this.step >= stepLimit) return false;
      this.#pop();
      if (next.run === undefined) continue;
      this.now = next.at;
      this.step++;
      next.run();
      await settled();
    }
    return true;
  }

  #push(event: ScheduledEvent): void {
    const queue = this.#queue;
    let index = queue.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      if (isBefore(queue[parent], queue[index])) break;
      [queue[parent], queue[index]] = [queue[index], queue[parent]];
      index = parent;
    }
  }

  #pop(): void {
    const queue = this.#queue;
    const last = queue.pop()!;
    if (queue.length === 0) return;
    queue[0] = last;
    for (let index = 0;;) {
      let least = index;
      for (const child of [2 * index + 1, 2 * index + 2]) {
        if (child < queue.length && isBefore(queue[child], queue[least])) least = child;
      }
      if (least === index) return;
      [queue[least], queue[index]] = [queue[index], queue[least]];
      index = least;
    }
  }
}

function isBefore(one: ScheduledEvent, other: ScheduledEvent): boolean {
  return one.at === other.at ? one.order < other.order : one.at < other.at;
}

/** Resolves when no promise can make progress. The code under test waits for no real timer or I/O. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
