import { monotonicUlid } from "@std/ulid";
import type { Host } from "./host.ts";

/** The host of a real process. */
export const systemHost: Host = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  newId: () => monotonicUlid(),
};
