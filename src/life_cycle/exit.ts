import process from "node:process";
import { defectOf, type Logger } from "../runtime/logger.ts";
import { flushErrors } from "../runtime/stderr_logger.ts";
import { systemRuntime } from "../runtime/system_runtime.ts";
import { isTelemetryOn } from "../settings/config.ts";

/** For sending the rest of the telemetry, in milliseconds. */
const TELEMETRY_LIMIT_MS = 3_000;

/** The exit code of a program that refuses. It is not 1, because Deno exits with 1 if it cannot load or run a program. */
export const REFUSED = 3;

/** For each exit code, a signal that kills a process that hangs at its exit. The launcher then exits with the code. */
const SIGNALS: Record<number, string> = {
  0: "SIGALRM",
  1: "SIGVTALRM",
  2: "SIGPROF",
  [REFUSED]: "SIGIO",
  130: "SIGUSR1",
  143: "SIGUSR2",
};

/**
 * Ends the process. If telemetry is on, Deno first sends the rest of it. If metrics become due meanwhile, Deno hangs:
 * they wait for the main thread, which waits for them. So after `limitMs`, a signal kills the process.
 */
export function exit(code: number, limitMs: number = TELEMETRY_LIMIT_MS): never {
  if (isTelemetryOn()) {
    // Only another thread can still run. A worker from a file would need the permission to read it.
    const kill = `Deno.kill(${process.pid}, "${SIGNALS[code]}")`;
    const delayMs = Math.min(limitMs, TELEMETRY_LIMIT_MS);
    const source = `data:text/javascript,setTimeout(() => ${kill}, ${delayMs})`;
    new Worker(source, { type: "module" });
  }
  process.exit(code);
}

/** The exit code of a task whose program has ended: 1 if it refused, and 2 if it could not run or crashed. */
export function exitCodeOf({ code, signal }: { code: number; signal: string | null }): number {
  const meant = Object.keys(SIGNALS).find((it) => SIGNALS[Number(it)] === signal);
  const ended = Number(meant ?? code);
  return ended === REFUSED ? 1 : ended === 1 ? 2 : ended;
}

/** Writes the rest of the log, for a second at most, and then ends the process as {@linkcode exit} does. */
export async function exitAfterLog(code: number, limitMs?: number): Promise<never> {
  const limit = limitMs ?? TELEMETRY_LIMIT_MS;
  const beganAt = systemRuntime.monotonicNow();
  await flushErrors(limit);
  exit(code, limit - (systemRuntime.monotonicNow() - beganAt));
}

/** Uncaught errors and rejections are defects, and end the process with code 1. */
export function installCrashHandlers(report: Logger): void {
  // Also called for rejections that nobody handles.
  process.on("uncaughtException", (thrown: unknown) => {
    report("error", "crashed", defectOf(thrown));
    void exitAfterLog(1);
  });
}
