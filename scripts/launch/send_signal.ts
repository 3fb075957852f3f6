/** Sends a signal to a child process, unless the process has ended. */
export function sendSignal(process: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    process.kill(signal);
  } catch {
    // The process has ended.
  }
}
