// What has happened in the store: a chart of the last 24 hours, and the last events.

import { html } from "./elements.js";
import { HOUR_MS, KINDS } from "./feed.js";
import { STATUS_CHANGES } from "./statuses.js";

const EVENTS_SHOWN = 50;
const HOURS_SHOWN = 24;

/** Units of the chart: each hour has room for a bar of each kind. */
const HOUR_WIDTH = 10;
const BAR_DISTANCE = 3;
const CHART_WIDTH = HOURS_SHOWN * HOUR_WIDTH;
const CHART_HEIGHT = 60;

const formatTime = new Intl.DateTimeFormat([], { timeStyle: "short" }).format;

export function Activity({ events, hours }) {
  return html`
    <aside tabindex="0">
      <h2>Last 24 hours</h2>
      ${Day(hours)}
      <h2>Last events</h2>
      ${Events(events.slice(0, EVENTS_SHOWN))}
    </aside>
  `;
}

/** How many events of each kind each of the last 24 hours had. */
function Day(hours) {
  const firstHour = Math.floor(Date.now() / HOUR_MS) - (HOURS_SHOWN - 1);
  const counts = Array.from({ length: HOURS_SHOWN }, (_, it) => hours[firstHour + it] ?? [0, 0, 0]);
  const words = Object.values(KINDS);
  return html`
    <svg
      role="img"
      aria-labelledby="day"
      viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT}"
      preserveAspectRatio="none"
    >
      ${words.map((_, kind) => html`<path class="kind-${kind}" d=${barsOf(kind, counts)} />`)}
    </svg>
    <p id="day">
      <time>${formatTime(firstHour * HOUR_MS)}</time>
      ${words.map((word, kind) => Total(kind, word, counts))}
      <time>now</time>
    </p>
  `;
}

/** The path of the bars of a kind. The highest bar of all kinds is as high as the chart. */
function barsOf(kind, counts) {
  const most = Math.max(1, ...counts.flat());
  const bars = counts.map((ofHour, hour) => {
    const x = HOUR_WIDTH * hour + BAR_DISTANCE * kind + 2;
    const height = CHART_HEIGHT * ofHour[kind] / most;
    return `M${x} ${CHART_HEIGHT}v${-height}`;
  });
  return bars.join("");
}

function Total(kind, word, counts) {
  const total = counts.reduce((sum, ofHour) => sum + ofHour[kind], 0);
  return html`<span class="kind-${kind}">${total.toLocaleString()} ${word}</span>`;
}

export function Events(events) {
  return html`<ol>${events.map(Event)}</ol>`;
}

function Event({ id, time, type, data }) {
  return html`
    <li key=${id}><time>${formatTime(new Date(time))}</time> ${sentenceOf(type, data)}</li>
  `;
}

function sentenceOf(type, { id, name, categoryId, status = "", previous }) {
  if (previous === undefined) return `${name} (${id}) was ${KINDS[type]}`;
  const changes = [];
  if ("status" in previous) changes.push(STATUS_CHANGES[status]);
  if (previous.name) changes.push(`was renamed ${name}`);
  if (previous.categoryId) changes.push(`moved to category ${categoryId}`);
  return `${previous.name ?? name} (${id}) ${changes.join(" and ")}`;
}
