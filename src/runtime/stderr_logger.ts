import { writeSync } from "node:fs";
import { escapeInvisible } from "./escape_invisible.ts";
import { redactKeys } from "./redact_keys.ts";
import type { Logger } from "./logger.ts";

const encoder = new TextEncoder();

/** Writes a line to standard error, even if OpenTelemetry has replaced the console. */
export function writeError(line: string): void {
  const bytes = encoder.encode(`${escapeInvisible(line)}\n`);
  try {
    for (let offset = 0; offset < bytes.length;) offset += writeSync(2, bytes, offset);
  } catch {
    // Nobody reads standard error any more, which must not stop the service.
  }
}

/** Logs JSON lines to standard error. API keys are redacted, because a client may put one into a path. */
export const stderrLogger: Logger = (level, event, details) => {
  console.error(lineOf(level, event, details));
};

/** Also sends lines to OpenTelemetry. Needs `OTEL_DENO_CONSOLE=replace`: the console then sends and prints nothing. */
export const telemetryLogger: Logger = (level, event, details) => {
  const line = lineOf(level, event, details);
  writeError(line);
  console[level](line);
};

function lineOf(...[level, event, details]: Parameters<Logger>): string {
  const line = JSON.stringify({ time: new Date().toISOString(), level, event, ...details });
  return escapeInvisible(redactKeys(line));
}
