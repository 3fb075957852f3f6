/** Times as people say them, such as "5 min. ago". */

import { computed, signal } from "@preact/signals";
import type { JSX } from "preact";
import { serviceTime } from "./clock.ts";
import { isPrinting } from "./printing.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LONGEST_MS = 7 * DAY_MS;
const UPDATE_MS = 30_000;

const relative = new Intl.RelativeTimeFormat("en", { style: "short" });
export const formatDate = new Intl.DateTimeFormat("en", { dateStyle: "medium" }).format;
const formatMinute =
  new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "short" }).format;
const formatExactly =
  new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "medium" }).format;

/** Counts how often the words are due to change. */
const updates = signal(0);
setInterval(() => updates.value++, UPDATE_MS);

/** The present, as far as words about times need it, in milliseconds since the Unix epoch. */
const now = computed(() => {
  updates.value;
  return serviceTime();
});

export function RelativeTime({ of }: { of: string }): JSX.Element {
  const time = new Date(of);
  // Nobody knows later when it was printed.
  const words = isPrinting.value ? formatMinute(time) : ageInWords(time);
  return <time dateTime={of} title={formatExactly(time)}>{words}</time>;
}

export function ExactTime({ of }: { of: string }): JSX.Element {
  return <time dateTime={of}>{formatExactly(new Date(of))}</time>;
}

function ageInWords(time: Date): string {
  const ageMs = now.value - time.getTime();
  if (ageMs < MINUTE_MS) return "just now";
  if (ageMs < HOUR_MS) return relative.format(-Math.floor(ageMs / MINUTE_MS), "minute");
  if (ageMs < DAY_MS) return relative.format(-Math.floor(ageMs / HOUR_MS), "hour");
  if (ageMs < LONGEST_MS) return relative.format(-Math.floor(ageMs / DAY_MS), "day");
  return formatDate(time);
}
