import { monotonicUlid } from "deno-std/ulid/mod.js";
import { setImmediate, setTimeout as startTimeout } from "node:timers";
import type { Runtime } from "./runtime.ts";

/** The runtime of the machine: its clocks, timers, randomness and ULIDs. */
export const systemRuntime: Runtime = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer: (ms, run) => ms < SHARED_FROM_MS ? afterExactly(ms, run) : afterRoundedUp(ms, run),
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
  random: () => Math.random(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  newId: () => monotonicUlid(),
};

/** Whether it has Deno KV, which Deno has with `--unstable-kv`, and with it files of its own, a client of servers, and Deno Deploy. */
export const HAS_DENO_KV: boolean =
  (globalThis as { Deno?: { openKv?: unknown } }).Deno?.openKv !== undefined;

/**
 * Timers from this time on share system timers. They are limits that are rarely reached, so one system timer for each
 * would cost more than the call.
 */
const SHARED_FROM_MS = 1_000;
/** How late they may fire, in milliseconds. */
const SHARED_STEP_MS = 50;

const shared = new Map<number, SharedTimer>();

function afterRoundedUp(ms: number, run: () => void): () => void {
  const step = Math.ceil((performance.now() + ms) / SHARED_STEP_MS);
  let timer = shared.get(step);
  if (timer === undefined) {
    timer = new SharedTimer(step);
    shared.set(step, timer);
  }
  return timer.add(run);
}

/** The system timer of a step, and those that share it. Without any, it does not keep the process running. */
class SharedTimer {
  readonly #timers = new Set<{ run: () => void }>();
  readonly #timeout: ReturnType<typeof startTimeout>;

  constructor(step: number) {
    const restMs = step * SHARED_STEP_MS - performance.now();
    this.#timeout = startTimeout(() => {
      shared.delete(step);
      for (const { run } of this.#timers) runAlone(run);
    }, restMs);
  }

  /** Returns a function that cancels the call. */
  add(run: () => void): () => void {
    const entry = { run };
    if (this.#timers.size === 0) this.#timeout.ref();
    this.#timers.add(entry);
    return () => {
      const wasThere = this.#timers.delete(entry);
      if (wasThere && this.#timers.size === 0) this.#timeout.unref();
    };
  }
}

/** An error is uncaught, as that of a timer of its own, and does not end the calls that follow. */
function runAlone(run: () => void): void {
  try {
    run();
  } catch (error) {
    startTimeout(() => {
      throw error;
    }, 0);
  }
}

function afterExactly(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
