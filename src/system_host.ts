import { monotonicUlid } from "@std/ulid";
import { setImmediate } from "node:timers";
import type { Host } from "./host.ts";

/** The host of a real process. */
export const systemHost: Host = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  turn: () => new Promise((resolve) => setImmediate(resolve)),
  random: () => Math.random(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  newId: () => monotonicUlid(),
};
