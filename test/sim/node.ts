import type { Runtime } from "eventstore-less";
import type { Random } from "./random.ts";
import { type Simulation, SIMULATION_START_MS } from "./simulation.ts";

/** A process with a clock of its own, which may be wrong and jump. It may die or pause between two events. */
export class Node implements Runtime {
  readonly name: string;
  readonly #simulation: Simulation;
  readonly #random: Random;
  alive = true;
  #pausedUntil = -Infinity;
  /** Offsets of the clock, each with the true time from which it applies; in milliseconds. */
  #offsets: { from: number; offset: number }[];
  #pauses: { from: number; to: number }[] = [];
  #deathListeners: (() => void)[] = [];
  #timers = new Set<symbol>();

  constructor(simulation: Simulation, name: string, offset: number) {
    this.name = name;
    this.#simulation = simulation;
    this.#random = simulation.random.fork();
    this.#offsets = [{ from: -Infinity, offset }];
  }

  now = (): number => Math.floor(this.#simulation.now + this.#offsets.at(-1)!.offset);

  monotonicNow = (): number => this.#simulation.now - SIMULATION_START_MS;

  setTimer = (ms: number, run: () => void): () => void => {
    const timer = Symbol();
    this.#timers.add(timer);
    const cancel = this.#simulation.after(ms, () =>
      this.deliver(() => {
        // The timer may have been cancelled while the node was paused.
        if (this.#timers.delete(timer)) run();
      }));
    return () => {
      this.#timers.delete(timer);
      cancel();
    };
  };

  /** Number of pending timers; 0 on an idle node. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  nextTurn = (): Promise<void> => {
    return new Promise((resolve) => this.setTimer(this.#random.between(0, TURN_MS), resolve));
  };

  random = (): number => this.#random.next();

  randomBytes = (length: number): Uint8Array => this.#random.bytes(length);

  newId = (): string =>
    `0${Array.from({ length: 25 }, () => this.#random.pick(ULID_DIGITS)).join("")}`;

  /** Runs an event that comes from outside: now, after the pause of the node, or never if the node is dead. */
  deliver(run: () => void): void {
    if (!this.alive) return;
    if (this.#simulation.now >= this.#pausedUntil) return run();
    this.#simulation.after(this.#pausedUntil - this.#simulation.now, () => this.deliver(run));
  }

  /** Kills the node: nothing runs on it and nothing reaches it afterwards. */
  die(): void {
    if (!this.alive) return;
    this.alive = false;
    this.#simulation.trace(`${this.name} dies`);
    for (const run of this.#deathListeners) run();
  }

  onDeath(run: () => void): void {
    this.#deathListeners.push(run);
  }

  /** Pauses the node without its knowledge. */
  pause(ms: number): void {
    this.#simulation.trace(`${this.name} pauses for ${ms.toFixed(0)} ms`);
    const to = this.#simulation.now + ms;
    this.#pausedUntil = Math.max(this.#pausedUntil, to);
    this.#pauses.push({ from: this.#simulation.now, to });
  }

  jumpClock(ms: number): void {
    this.#simulation.trace(`the clock of ${this.name} jumps by ${ms.toFixed(0)} ms`);
    this.#offsets.push({ from: this.#simulation.now, offset: this.#offsets.at(-1)!.offset + ms });
  }

  /** How long the node was paused between two true times, in milliseconds. */
  pausedBetween(from: number, to: number): number {
    return this.#pauses.reduce((sum, pause) => {
      return sum + Math.max(0, Math.min(to, pause.to) - Math.max(from, pause.from));
    }, 0);
  }

  /** The largest offset of the node's clock up to a true time, in milliseconds. */
  mostAhead(until: number): number {
    const offsets = this.#offsets.filter(({ from }) => from <= until);
    return Math.max(...offsets.map(({ offset }) => offset));
  }

  /** The earliest and the latest time that the node's clock showed between two true times. */
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

/** Maximum duration of a turn of the event loop, in milliseconds. */
const TURN_MS = 0.2;

const ULID_DIGITS = [..."0123456789ABCDEFGHJKMNPQRSTVWXYZ"];
