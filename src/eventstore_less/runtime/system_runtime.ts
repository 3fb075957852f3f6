import { monotonicUlid } from "deno-std/ulid/mod.js";
import { setImmediate } from "node:timers";
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

/**
 * Timers from this time on share system timers. They are limits that are rarely reached, so one system timer for each
 * would cost more than the call.
 */
const SHARED_FROM_MS = 1_000;
/** How late they may fire, in milliseconds. */
const SHARED_STEP_MS = 50;

const shared = new Map<number, Set<{ run: () => void }>>();

function afterRoundedUp(ms: number, run: () => void): () => void {
  const step = Math.ceil((performance.now() + ms) / SHARED_STEP_MS);
  let timers = shared.get(step);
  if (timers === undefined) timers = startShared(step);
  const entry = { run };
  timers.add(entry);
  return () => void timers.delete(entry);
}

/** Starts the system timer of a step, and returns the set of those that share it. */
function startShared(step: number): Set<{ run: () => void }> {
  const timers = new Set<{ run: () => void }>();
  shared.set(step, timers);
  const restMs = step * SHARED_STEP_MS - performance.now();
  setTimeout(() => {
    shared.delete(step);
    for (const { run } of timers) run();
  }, restMs);
  return timers;
}

function afterExactly(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
