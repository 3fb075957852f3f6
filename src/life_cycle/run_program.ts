import { reasonOf } from "eventstore-less/startup";
import { stderrLogger, writeError } from "../runtime/stderr_logger.ts";
import { COULD_NOT_RUN, exitAfterLog, installCrashHandlers } from "./exit.ts";

/**
 * Runs a program that logs, and ends the process with the exit code that `run` resolves to. An
 * error is one line on standard error, and ends it with {@linkcode COULD_NOT_RUN}.
 */
export async function runProgram(run: () => Promise<number>): Promise<never> {
  installCrashHandlers(stderrLogger);
  let code: number;
  try {
    code = await run();
  } catch (error) {
    writeError(`error: ${reasonOf(error)}`);
    code = COULD_NOT_RUN;
  }
  return await exitAfterLog(code);
}
