import process from "node:process";
import type { Runtime } from "../runtime/runtime.ts";

/** How often a process looks whether its parent has ended, in milliseconds. */
const INTERVAL_MS = 1_000;

/**
 * Ends this process as SIGTERM does if its parent ends. Without this, a process would serve on after a SIGKILL of
 * `deno task` or of its supervisor, and keep the port.
 */
export function endWithParent(parent: number, runtime: Runtime): void {
  runtime.setTimer(INTERVAL_MS, () => {
    // Repeated, because the process may not yet listen for signals.
    if (process.ppid !== parent) process.emit("SIGTERM", "SIGTERM");
    endWithParent(parent, runtime);
  });
}
