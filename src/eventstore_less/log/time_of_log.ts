import { ServiceError } from "../service_error.ts";

/** Whether a time in ISO 8601 has a year of four digits, as those that the log can hold. */
export function isTimeOfLog(time: string): boolean {
  return time.length === "2026-01-01T00:00:00.000Z".length;
}

/** Throws `store_unavailable` if a time of the wall clock, in ISO 8601, is beyond the years that the log can hold. */
export function expectRightClock(time: string): void {
  if (isTimeOfLog(time)) return;
  const year = `The clock of this machine says year ${parseInt(time)}`;
  throw new ServiceError("store_unavailable", `${year}, which cannot be right: set it`);
}
