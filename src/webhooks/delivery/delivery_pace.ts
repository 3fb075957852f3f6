import type { Runtime } from "eventstore-less";
import { type BackgroundWork, sleep } from "eventstore-less/parts";

/** From so many requests per second on, deliveries wait, because they would take time from requests. */
const BUSY_REQUESTS = 500;

/** From one delivery to the next while the instance is busy, in milliseconds. Each takes about 1 ms of the processor. */
const BUSY_PAUSE_MS = 20;

/** Time over which requests are counted, in milliseconds. */
const SAMPLE_MS = 100;

/** Lets deliveries begin at once, but while an instance has many requests, only some each second. */
export class DeliveryPace {
  readonly #background: Pick<BackgroundWork, "requestCount">;
  readonly #runtime: Runtime;
  #sample = { at: -Infinity, count: 0 };
  #isBusy = false;
  /** When the next delivery may begin while the instance is busy. */
  #nextAt = -Infinity;

  constructor(background: Pick<BackgroundWork, "requestCount">, runtime: Runtime) {
    this.#background = background;
    this.#runtime = runtime;
  }

  /** Resolves when a delivery may begin. */
  async turn(): Promise<void> {
    const now = this.#runtime.monotonicNow();
    this.#look(now);
    if (!this.#isBusy) return;
    const begin = Math.max(now, this.#nextAt);
    this.#nextAt = begin + BUSY_PAUSE_MS;
    if (begin > now) await sleep(this.#runtime, begin - now);
  }

  #look(now: number): void {
    const { at, count } = this.#sample;
    if (now - at < SAMPLE_MS) return;
    const { requestCount } = this.#background;
    const limit = BUSY_REQUESTS * (now - at) / 1_000;
    this.#isBusy = requestCount - count >= limit;
    this.#sample = { at: now, count: requestCount };
  }
}
