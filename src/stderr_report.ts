import type { Report } from "./report.ts";

/** Reports as JSON lines on standard error. A key that a client put into a path is left out. */
export const stderrReport: Report = (level, event, details) => {
  const line = JSON.stringify({ time: new Date().toISOString(), level, event, ...details });
  console.error(withoutTokens(line));
};

/** The text with every API key in it made unreadable. */
export function withoutTokens(text: string): string {
  return text.replace(/pets_[0-9a-f]{8,}/g, "pets_…");
}
