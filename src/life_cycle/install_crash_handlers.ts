import { type Logger, reasonOf } from "../runtime/logger.ts";

/**
 * Reports uncaught errors and rejections, which are defects, and ends the process with code 1 as Deno would.
 */
export function installCrashHandlers(report: Logger, exit: (code: number) => never): void {
  const crash = (thrown: unknown) => {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    report("error", "crashed", { reason: reasonOf(thrown), stack });
    exit(1);
  };
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    crash(event.error);
  });
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    crash(event.reason);
  });
}
