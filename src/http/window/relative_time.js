// Times as people say them, such as "5 min. ago".

import { html } from "./elements.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LONGEST_MS = 7 * DAY_MS;

const relative = new Intl.RelativeTimeFormat("en", { style: "short" });
export const formatDate = new Intl.DateTimeFormat("en", { dateStyle: "medium" }).format;
const formatExactly =
  new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "medium" }).format;

export function RelativeTime(text) {
  const time = new Date(text);
  return html`<time datetime=${text} title=${formatExactly(time)}>${wordsOf(time)}</time>`;
}

export function ExactTime(text) {
  return html`<time datetime=${text}>${formatExactly(new Date(text))}</time>`;
}

function wordsOf(time) {
  const ageMs = Date.now() - time;
  if (ageMs < MINUTE_MS) return "just now";
  if (ageMs < HOUR_MS) return relative.format(-Math.floor(ageMs / MINUTE_MS), "minute");
  if (ageMs < DAY_MS) return relative.format(-Math.floor(ageMs / HOUR_MS), "hour");
  if (ageMs < LONGEST_MS) return relative.format(-Math.floor(ageMs / DAY_MS), "day");
  return formatDate(time);
}
