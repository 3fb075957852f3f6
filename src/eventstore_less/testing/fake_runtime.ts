import { setImmediate } from "node:timers";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/store.ts";

const SETTLE_STEP_MS = 100;

/**
 * A runtime for tests. Its time passes only if a test says so, and its ids, random numbers and bytes are the same in each
 * run.
 *
 * ```ts
 * const runtime = new FakeRuntime("2026-01-31T12:00:00.000Z");
 * await using store = await openEventStore(application, ":memory:", { runtime });
 * await store.append(command);     // its events have the time 2026-01-31T12:00:00.000Z
 * await runtime.advance(60_000);   // now it is one minute later, and what was due has run
 * ```
 */
export class FakeRuntime implements Runtime {
  #now: number;
  #clockOffset = 0;
  #count = 0;
  #working = 0;
  #timers = new Set<{ at: number; run: () => void }>();

  /** Starts at a time in ISO 8601. */
  constructor(start = "2026-01-01T00:00:00.000Z") {
    this.#now = Date.parse(start);
  }

  /** Milliseconds since the Unix epoch, by the clock, which {@linkcode jumpClock} shifts. */
  now = (): number => this.#now + this.#clockOffset;

  /** Milliseconds that pass only by {@linkcode advance}. */
  monotonicNow = (): number => this.#now;

  /** Calls `run` as soon as `ms` milliseconds have passed. Returns a function that cancels the call. */
  setTimer = (ms: number, run: () => void): () => void => {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Resolves at once: a test needs no turn of the event loop between two commands. */
  nextTurn = (): Promise<void> => Promise.resolve();

  /** Always 0.5. */
  random = (): number => 0.5;

  /** Bytes that begin with a number, which counts all ids and bytes from 1 on. */
  randomBytes = (length: number): Uint8Array => {
    const bytes = new Uint8Array(length);
    new DataView(bytes.buffer).setUint32(0, ++this.#count);
    return bytes;
  };

  /** A ULID that ends with a number, which counts all ids and bytes from 1 on. */
  newId = (): string => `01HZZZZZZZ${String(++this.#count).padStart(16, "0")}`;

  /** Shifts the clock by milliseconds, as an administrator does. No time passes. */
  jumpClock(ms: number): void {
    this.#clockOffset += ms;
  }

  /** The time until each pending timer is due, in milliseconds. */
  waits = (): number[] => [...this.#timers].map(({ at }) => at - this.#now);

  /** Lets milliseconds pass. Timers that are due run in order, and pending work settles after each. */
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

  /** Lets time pass in small steps until the promise settles. Resolves or rejects as the promise does. */
  async settle<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    work.catch(() => {}).finally(() => isSettled = true);
    while (!isSettled) await this.advance(SETTLE_STEP_MS);
    return await work;
  }

  /** The same store, but no time passes during its calls. A store on a disk or a network needs this. */
  awaited(store: Store): Store {
    const during = <T>(work: Promise<T>) => this.during(work);
    return {
      limits: store.limits,
      get: (key) => during(store.get(key)),
      list: (range, options) => during(store.list(range, options)),
      snapshot: (keys, ranges, options) => during(store.snapshot(keys, ranges, options)),
      commit: (commit) => during(store.commit(commit)),
      close: () => store.close(),
      reopen: store.reopen && ((signal) => store.reopen!(signal)),
    };
  }

  /** Registers work in progress: no time passes until the promise has settled. */
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
