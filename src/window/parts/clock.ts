/** The time of the service, because the clock of this computer may be days off. */

import { signal } from "@preact/signals";

/** The time of a response has whole seconds, and was on its way for a moment. */
const TOLERANCE_MS = 5_000;

/** Milliseconds by which the clock of the service is ahead. */
const aheadMs = signal(0);

/** Milliseconds since the Unix epoch. */
export function serviceTime(): number {
  return Date.now() + aheadMs.value;
}

/** Takes the `Date` header of a response. */
export function noteServiceTime(date: string | null): void {
  const ahead = Date.parse(date ?? "") - Date.now();
  const isOff = Math.abs(ahead - aheadMs.peek()) > TOLERANCE_MS;
  if (isOff) aheadMs.value = ahead;
}
