import { redactKeys } from "./redact_keys.ts";
import type { Report } from "./report.ts";

/** Reports as JSON lines on standard error. A key that a client put into a path is left out. */
export const stderrReport: Report = (level, event, details) => {
  const line = JSON.stringify({ time: new Date().toISOString(), level, event, ...details });
  console.error(redactKeys(line));
};
