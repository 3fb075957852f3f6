import { type Logger, reasonOf } from "./logger.ts";

/** Reports what nobody caught, which is a mistake of ours, and ends the process as Deno itself would. */
export function reportCrashes(report: Logger): void {
  const crash = (thrown: unknown) => {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    report("error", "crashed", { reason: reasonOf(thrown), stack });
    Deno.exit(1);
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
