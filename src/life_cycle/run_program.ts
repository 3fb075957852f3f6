import { reasonOf } from "eventstore-less/startup";
import process from "node:process";
import { stderrLogger, writeError } from "../runtime/stderr_logger.ts";
import { COULD_NOT_RUN, exitAfterLog, installCrashHandlers } from "./exit.ts";

/**
 * Runs a program that takes no arguments and logs, and ends the process with the exit code that `run` resolves to. An
 * error is one line on standard error, and ends it with {@linkcode COULD_NOT_RUN}.
 */
export async function runProgram(run: () => Promise<number>): Promise<never> {
  installCrashHandlers(stderrLogger);
  let code: number;
  try {
    const argument = process.argv[2];
    if (argument !== undefined) {
      throw new Error(`Unexpected argument ${JSON.stringify(argument)}; see --help`);
    }
    code = await run();
  } catch (error) {
    writeError(`error: ${reasonOf(error)}`);
    code = COULD_NOT_RUN;
  }
  return await exitAfterLog(code);
}
