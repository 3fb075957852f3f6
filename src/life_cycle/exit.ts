import { defectOf } from "eventstore-less/startup";
import process from "node:process";
import type { Logger } from "../runtime/logger.ts";
import { endErrors } from "../runtime/stderr_logger.ts";

/** The exit code of a program that could not run, or that a defect has ended. */
export const COULD_NOT_RUN = 2;

/** Ends the log, writes the rest of it, for a second at most, and then ends the process. */
export async function exitAfterLog(code: number, limitMs?: number): Promise<never> {
  await endErrors(limitMs);
  process.exit(code);
}

/** Uncaught errors and rejections are defects. Each is logged, and ends the process with {@linkcode COULD_NOT_RUN}. */
export function installCrashHandlers(report: Logger): void {
  // Also called for rejections that nobody handles.
  process.on("uncaughtException", (thrown: unknown) => {
    report("error", "crashed", defectOf(thrown));
    void exitAfterLog(COULD_NOT_RUN);
  });
}
