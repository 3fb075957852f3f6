import type { Report } from "./report.ts";

/** Reports as JSON lines on standard error. */
export const stderrReport: Report = (level, event, details) => {
  console.error(JSON.stringify({ time: new Date().toISOString(), level, event, ...details }));
};
