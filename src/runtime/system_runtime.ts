import { monotonicUlid } from "@std/ulid";
import { setImmediate } from "node:timers";
import type { Runtime } from "./runtime.ts";

export const systemRuntime: Runtime = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer: (ms, run) => ms < SHARED_FROM_MS ? afterExactly(ms, run) : afterRoundedUp(ms, run),
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
  random: () => Math.random(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  newId: () => monotonicUlid(),
};

/** Timers from this time on share system timers: they are limits, rarely reached, and one for each call would cost more than it. */
const SHARED_FROM_MS = 1_000;
/** How late they may fire, in milliseconds. */
const SHARED_STEP_MS = 50;

const shared = new Map<number, Set<{ run: () => void }>>();

function afterRoundedUp(ms: number, run: () => void): () => void {
  const step = Math.ceil((performance.now() + ms) / SHARED_STEP_MS);
  let timers = shared.get(step);
  if (timers === undefined) {
    const all = timers = new Set();
    shared.set(step, all);
    setTimeout(() => {
      shared.delete(step);
      for (const { run } of all) run();
    }, step * SHARED_STEP_MS - performance.now());
  }
  const entry = { run };
  timers.add(entry);
  return () => void timers.delete(entry);
}

function afterExactly(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
