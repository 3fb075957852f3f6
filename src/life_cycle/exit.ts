import process from "node:process";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import { isTelemetryOn } from "../settings/config.ts";

/** Maximum time, in milliseconds, in which the rest of the telemetry is sent. */
const TELEMETRY_LIMIT_MS = 3_000;

/**
 * The signals by which a program ends whose telemetry cannot be sent, by exit code. A process can kill itself
 * only with a signal, and the launcher restores the code.
 */
const SIGNALS: Record<number, string> = {
  0: "SIGALRM",
  1: "SIGVTALRM",
  2: "SIGPROF",
  130: "SIGUSR1",
  143: "SIGUSR2",
};

/**
 * Ends the process with an exit code. Deno first sends the rest of the telemetry, for at most `limitMs` here. Deno itself
 * would wait for ever if metrics become due meanwhile: they wait for the main thread, which waits for them.
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

/** The exit code that a program meant which has ended by {@linkcode exit}. */
export function exitCodeOf({ code, signal }: { code: number; signal: string | null }): number {
  const meant = Object.keys(SIGNALS).find((it) => SIGNALS[Number(it)] === signal);
  return meant === undefined ? code : Number(meant);
}

/** Reports uncaught errors and rejections, which are defects, and ends with code 1. */
export function installCrashHandlers(report: Logger): void {
  // Also called for rejections that nobody handles.
  process.on("uncaughtException", (thrown: unknown) => {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    report("error", "crashed", { reason: reasonOf(thrown), stack });
    exit(1);
  });
}
