/** A world of its own: its time goes on only from event to event, and its chance comes from a seed. */

import { createHash } from "node:crypto";
import { setImmediate } from "node:timers";
import { Random } from "./random.ts";

/** The true time at which every world begins, in milliseconds since the Unix epoch. */
export const WORLD_BEGIN_MS = Date.parse("2026-01-01T00:00:00.000Z");

interface Happening {
  at: number;
  order: number;
  run: (() => void) | undefined;
}

export class World {
  readonly random: Random;
  /** True time, in milliseconds since the Unix epoch, with a fraction. */
  now = WORLD_BEGIN_MS;
  /** How many events have happened: what happened at a smaller step happened before. */
  step = 0;
  /** Told of everything that is traced, for a person who looks at one seed. */
  readonly onTrace: ((line: string) => void) | undefined;
  #queue: Happening[] = [];
  #order = 0;
  #trace = createHash("sha256");

  constructor(seed: number, onTrace?: (line: string) => void) {
    this.random = new Random(seed);
    this.onTrace = onTrace;
  }

  /** Lets something happen after a time; the function returned takes it back. */
  after(ms: number, run: () => void): () => void {
    const happening: Happening = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    this.#push(happening);
    return () => void (happening.run = undefined);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Writes down what happens, as part of the history that the seed must give again. */
  trace(text: string): void {
    const line = `${(this.now - WORLD_BEGIN_MS).toFixed(3)} #${this.step} ${text}`;
    this.#trace.update(`${line}\n`);
    this.onTrace?.(line);
  }

  /** The hash of all that was traced. To be asked for once, at the end. */
  digest(): string {
    return this.#trace.digest("hex");
  }

  /**
   * Lets one event after the other happen, and all that follows from each before the next, until
   * `isOver`, or until nothing is left to happen, or so many have. Returns whether `isOver`.
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

  #push(happening: Happening): void {
    const queue = this.#queue;
    let index = queue.push(happening) - 1;
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

function isBefore(one: Happening, other: Happening): boolean {
  return one.at === other.at ? one.order < other.order : one.at < other.at;
}

/** Resolves when all promises that can go on have gone on: the code under test waits for nothing real. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
