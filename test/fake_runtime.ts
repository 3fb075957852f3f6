import type { Runtime } from "../src/runtime.ts";

/** A runtime whose time stands still until it is told to go on, and whose ids and secrets can be foretold. */
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

  /** Sets the clock anew, while no time passes. */
  jumpClock(ms: number): void {
    this.#clockOffset += ms;
  }

  /** How long it is until each of the timers falls due, in milliseconds. */
  waits = () => [...this.#timers].map(({ at }) => at - this.#now);

  /** Lets time pass: runs what falls due in order, and lets what waits for it go on in between. */
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

  /** Takes note of work that goes on by itself: time does not pass before it is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#working++;
    try {
      return await work;
    } finally {
      this.#working--;
    }
  }

  /** Resolves when everything that can go on without more time has gone on. */
  async #settled(): Promise<void> {
    for (let quietTurns = 0; quietTurns < 2;) {
      await new Promise((resolve) => setTimeout(resolve));
      quietTurns = this.#working === 0 ? quietTurns + 1 : 0;
    }
  }
}
