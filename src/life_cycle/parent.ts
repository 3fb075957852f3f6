import { systemRuntime } from "eventstore-less/startup";
import process from "node:process";

/** How often a process looks whether its parent has ended, in milliseconds. */
const INTERVAL_MS = 1_000;

/**
 * Ends this process as SIGTERM does if its parent has ended. Without this, a process of a task would serve on after a
 * SIGKILL of the task or of its supervisor, and keep the port. `parent` is the process id of a parent that may have ended
 * before this call. `src/main.ts` does not call it: the shell or the program that starts that module may end before it.
 */
export function endWithParent(parent: number = process.ppid): void {
  const look = () => {
    // Repeated, because the process may not yet listen for signals.
    if (process.ppid !== parent) process.emit("SIGTERM", "SIGTERM");
    systemRuntime.setTimer(INTERVAL_MS, look);
  };
  systemRuntime.setTimer(INTERVAL_MS, look);
}
