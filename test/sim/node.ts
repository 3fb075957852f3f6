import type { Runtime } from "../../src/runtime.ts";
import type { Random } from "./random.ts";
import { type World, WORLD_BEGIN_MS } from "./world.ts";

/**
 * A machine of a world, as the service sees it: with a clock of its own that may be wrong and jump,
 * and a life that may stop between any two events or stand still for a while.
 */
export class Node implements Runtime {
  readonly name: string;
  readonly #world: World;
  readonly #random: Random;
  #alive = true;
  #pausedUntil = -Infinity;
  /** From when on the clock was wrong by how much. */
  #offsets: { from: number; offset: number }[];
  #pauses: { from: number; to: number }[] = [];
  #atDeath: (() => void)[] = [];
  #waiting = new Set<symbol>();

  constructor(world: World, name: string, offset: number) {
    this.name = name;
    this.#world = world;
    this.#random = world.random.fork();
    this.#offsets = [{ from: -Infinity, offset }];
  }

  now = (): number => Math.floor(this.#world.now + this.#offsets.at(-1)!.offset);

  monotonicNow = (): number => this.#world.now - WORLD_BEGIN_MS;

  setTimer = (ms: number, run: () => void): () => void => {
    const waiting = Symbol();
    this.#waiting.add(waiting);
    const cancel = this.#world.after(ms, () =>
      this.deliver(() => {
        // It may have been taken back while the machine stood still.
        if (this.#waiting.delete(waiting)) run();
      }));
    return () => {
      this.#waiting.delete(waiting);
      cancel();
    };
  };

  /** How many timers are set and have not gone off: at rest, none. */
  get timers(): number {
    return this.#waiting.size;
  }

  nextTurn = (): Promise<void> => {
    return new Promise((resolve) => this.setTimer(this.#random.between(0, TURN_MS), resolve));
  };

  random = (): number => this.#random.next();

  randomBytes = (length: number): Uint8Array => this.#random.bytes(length);

  newId = (): string => {
    let time = this.now();
    let text = "";
    for (let digit = 0; digit < 10; digit++) {
      text = ULID_DIGITS[time % 32] + text;
      time = Math.floor(time / 32);
    }
    for (let digit = 0; digit < 16; digit++) text += this.#random.pick(ULID_DIGITS);
    return text;
  };

  get alive(): boolean {
    return this.#alive;
  }

  /** Lets something from outside reach the machine: now, when it goes on, or never. */
  deliver(run: () => void): void {
    if (!this.#alive) return;
    if (this.#world.now >= this.#pausedUntil) return run();
    this.#world.after(this.#pausedUntil - this.#world.now, () => this.deliver(run));
  }

  /** Stops dead: nothing on it goes on, and nothing reaches it any more. */
  die(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#world.trace(`${this.name} dies`);
    for (const told of this.#atDeath) told();
  }

  onDeath(told: () => void): void {
    this.#atDeath.push(told);
  }

  /** Stands still for a while, and does not know it. */
  pause(ms: number): void {
    this.#world.trace(`${this.name} stands still for ${ms.toFixed(0)} ms`);
    const to = this.#world.now + ms;
    this.#pausedUntil = Math.max(this.#pausedUntil, to);
    this.#pauses.push({ from: this.#world.now, to });
  }

  jumpClock(ms: number): void {
    this.#world.trace(`the clock of ${this.name} jumps by ${ms.toFixed(0)} ms`);
    this.#offsets.push({ from: this.#world.now, offset: this.#offsets.at(-1)!.offset + ms });
  }

  /** How long the machine stood still between two true times. */
  pausedBetween(from: number, to: number): number {
    let sum = 0;
    for (const pause of this.#pauses) {
      sum += Math.max(0, Math.min(to, pause.to) - Math.max(from, pause.from));
    }
    return sum;
  }

  /** How far its clock was ahead at the most, at any time until then, in milliseconds. */
  mostAhead(until: number): number {
    return Math.max(...this.#offsetsUntil(until));
  }

  /** How far its clock was ahead all the time until then; `undefined` if it jumped. */
  steadyOffset(until: number): number | undefined {
    const offsets = this.#offsetsUntil(until);
    return offsets.length === 1 ? offsets[0] : undefined;
  }

  #offsetsUntil(until: number): number[] {
    return this.#offsets.filter(({ from }) => from <= until).map(({ offset }) => offset);
  }

  /** The earliest and the latest time that its clock showed between two true times. */
  clockBetween(from: number, to: number): { earliest: number; latest: number } {
    let earliest = Infinity;
    let latest = -Infinity;
    for (const [index, { from: since, offset }] of this.#offsets.entries()) {
      const until = this.#offsets[index + 1]?.from ?? Infinity;
      if (until < from || since > to) continue;
      earliest = Math.min(earliest, Math.max(from, since) + offset);
      latest = Math.max(latest, Math.min(to, until) + offset);
    }
    return { earliest: Math.floor(earliest), latest: Math.ceil(latest) };
  }
}

/** Longest time that a turn of the event loop takes, in milliseconds. */
const TURN_MS = 0.2;

const ULID_DIGITS = [..."0123456789ABCDEFGHJKMNPQRSTVWXYZ"];
