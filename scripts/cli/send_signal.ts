import type { ChildProcess } from "node:child_process";
import { kill } from "node:process";

/**
 * Sends a signal to a child process, unless it has ended. By its id: of `ChildProcess.kill()`, Deno ignores the second
 * call, and takes the signal for the end of the process, whatever ended it.
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
    // It has ended just now.
  }
}
