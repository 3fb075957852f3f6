import { redactKeys } from "./redact_keys.ts";
import type { Logger } from "./logger.ts";

/** Reports as JSON lines on standard error. A key that a client put into a path is left out. */
export const stderrLogger: Logger = (level, event, details) => {
  const line = JSON.stringify({ time: new Date().toISOString(), level, event, ...details });
  console.error(redactKeys(line));
};
