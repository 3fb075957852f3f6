import { redactKeys } from "./redact_keys.ts";
import type { Logger } from "./logger.ts";

/** Logs JSON lines to standard error. API keys are redacted, because a client may put one into a path. */
export const stderrLogger: Logger = (level, event, details) => {
  const line = JSON.stringify({ time: new Date().toISOString(), level, event, ...details });
  console.error(redactKeys(line));
};
