import type { ChildProcess } from "node:child_process";
import { kill } from "node:process";

/**
 * Sends a signal to a child process by its id, unless it has ended. Deno ignores a second call of
 * `ChildProcess.kill()`, and then reports that the first signal has ended the process, even if the second one did.
 */
export function sendSignal(
  { exitCode, pid, signalCode }: Pick<ChildProcess, "exitCode" | "pid" | "signalCode">,
  signal: NodeJS.Signals,
): void {
  const isRunning = pid !== undefined && exitCode === null && signalCode === null;
  if (!isRunning) return;
  try {
    kill(pid, signal);
  } catch {
    // The process has ended just now.
  }
}
