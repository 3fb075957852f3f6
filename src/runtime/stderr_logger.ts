import { systemRuntime } from "eventstore-less/startup";
import { writeStderr } from "this-runtime/stdio.ts";
import { escapeInvisible } from "./escape_invisible.ts";
import { LineBuffer } from "./line_buffer.ts";
import { type Logger, REQUEST_LINE } from "./logger.ts";
import { redactKeys } from "./redact_keys.ts";

/** Time for the rest of the lines at the end of the process, in milliseconds. */
const END_LIMIT_MS = 1_000;

let processNumber: number | undefined;

const lines = new LineBuffer({
  write: writeStderr,
  droppedLine: (lost) => lineOf("warn", "lines_dropped", { ...lost }),
  runtime: systemRuntime,
});

/** Names the process in each line, if it shares its port with others. */
export function logAsProcess(number: number | undefined): void {
  processNumber = number;
}

/** Writes a line to standard error, without a wait for its reader. */
export function writeError(line: string): void {
  lines.add(escapeInvisible(line));
}

/**
 * Drops further lines, because the last one says how the program ended. Resolves when all lines so far were written to
 * standard error, or after a second at most. A program must await it before it exits.
 */
export function endErrors(limitMs: number = END_LIMIT_MS): Promise<void> {
  return lines.end(Math.min(limitMs, END_LIMIT_MS));
}

/** Logs JSON lines to standard error. API keys are redacted, because a client may put one into a path. */
export const stderrLogger: Logger = (level, event, details) => {
  lines.add(lineOf(level, event, details), event === REQUEST_LINE);
};

function lineOf(...[level, event, details]: Parameters<Logger>): string {
  const common = { time: new Date().toISOString(), level, event, process: processNumber };
  return escapeInvisible(redactKeys(JSON.stringify({ ...common, ...details })));
}
