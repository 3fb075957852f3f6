import type { Runtime } from "eventstore-less";
import { setImmediate } from "node:timers";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { faultyStore } from "./faulty_store.ts";

const SETTLE_STEP_MS = 100;

/** A runtime whose time passes only on request, with predictable ids and secrets. */
export class FakeRuntime implements Runtime {
  #now = Date.parse("2026-01-01T00:00:00.000Z");
  #clockOffset = 0;
  #count = 0;
  #working = 0;
  #timers = new Set<{ at: number; run: () => void }>();

  now = () => this.#now + this.#clockOffset;

  monotonicNow = () => this.#now;

  setTimer = (ms: number, run: () => void) => {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  nextTurn = () => Promise.resolve();

  random = () => 0.5;

  randomBytes = (length: number) => {
    const bytes = new Uint8Array(length);
    new DataView(bytes.buffer).setUint32(0, ++this.#count);
    return bytes;
  };

  newId = () => `01HZZZZZZZ${String(++this.#count).padStart(16, "0")}`;

  /** Shifts the clock without advancing time. */
  jumpClock(ms: number): void {
    this.#clockOffset += ms;
  }

  /** Time until each pending timer is due, in milliseconds. */
  waits = () => [...this.#timers].map(({ at }) => at - this.#now);

  /** Advances time: runs due timers in order, and settles pending work after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#settled();
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.run();
      await this.#settled();
    }
    this.#now = end;
    await this.#settled();
  }

  /** Advances time in small steps until the work settles. */
  async settle<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    work.catch(() => {}).finally(() => isSettled = true);
    while (!isSettled) await this.advance(SETTLE_STEP_MS);
    return await work;
  }

  /** Decorates a store, so that its calls finish before time advances. */
  awaited(store: Store): Store {
    const during = <T>(apply: () => Promise<T>) => this.during(apply());
    return faultyStore(store, {
      onGet: during,
      onList: during,
      onSnapshot: during,
      onCommit: during,
    });
  }

  /** Registers pending work. Time does not advance until it has finished. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#working++;
    try {
      return await work;
    } finally {
      this.#working--;
    }
  }

  /** Resolves when no work can make progress without more time. */
  async #settled(): Promise<void> {
    for (let quietTurns = 0; quietTurns < 2;) {
      await new Promise((resolve) => setImmediate(resolve));
      quietTurns = this.#working === 0 ? quietTurns + 1 : 0;
    }
  }
}
