// What has happened in the store: a chart of the last 24 hours, and the last events.

import { html } from "./elements.js";
import { runsOf } from "./event_runs.js";
import { sentenceOf, sentenceOfRun } from "./event_sentences.js";
import { HOUR_MS } from "./feed.js";
import { KIND_WORDS, kindOf } from "./kinds.js";
import { RelativeTime } from "./relative_time.js";
import { EVENTS_KEPT, setState } from "./state.js";

const RUNS_SHOWN = 50;
const HOURS_SHOWN = 24;

/** Units of the chart: each hour has room for a bar of each kind. */
const HOUR_WIDTH = 10;
const BAR_DISTANCE = 3;
const CHART_WIDTH = HOURS_SHOWN * HOUR_WIDTH;
const CHART_HEIGHT = 60;

const formatTime = new Intl.DateTimeFormat([], { timeStyle: "short" }).format;

/** On a narrow page, it is one line that unfolds. */
export function Activity({ events, hours, isActivityOpen, isDayCut }) {
  const runs = runsOf(events);
  return html`
    <aside class=${isActivityOpen ? "open" : ""} aria-label="Activity">
      <button
        class="fold"
        aria-expanded=${isActivityOpen}
        aria-controls="activity"
        onClick=${() => setState({ isActivityOpen: !isActivityOpen })}
      >
        <b>Activity</b>
        <span class="last">${runs.length > 0 && RunSentence(runs[0])}</span>
      </button>
      <div id="activity" role="region" aria-label="Activity" tabindex="0">
        <h2>Last 24 hours</h2>
        ${Day(hours)} ${isDayCut &&
          html`<p class="soft small">The day had too many events to count them all.</p>`}
        <h2>Last events</h2>
        <ol class="events">${runs.slice(0, RUNS_SHOWN).map(Run)}</ol>
        ${events.length === 0 && html`<p class="soft small">Nothing has happened yet.</p>`}
      </div>
    </aside>
  `;
}

/** How many events of each kind each of the last 24 hours had. */
function Day(hours) {
  const firstHour = Math.floor(Date.now() / HOUR_MS) - (HOURS_SHOWN - 1);
  const counts = Array.from({ length: HOURS_SHOWN }, (_, it) => hours[firstHour + it] ?? [0, 0, 0]);
  return html`
    <svg
      class="chart"
      role="img"
      aria-labelledby="day"
      viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT}"
      preserveAspectRatio="none"
    >
      ${KIND_WORDS.map((_, kind) => html`<path class="kind-${kind}" d=${barsOf(kind, counts)} />`)}
    </svg>
    <p class="axis"><time>${formatTime(firstHour * HOUR_MS)}</time><time>now</time></p>
    <p class="legend" id="day">${KIND_WORDS.map((word, kind) => Total(kind, word, counts))}</p>
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
  return html`
    <span class="dot kind-${kind}">${total.toLocaleString()} ${word}</span>
  `;
}

function Run(run) {
  const [event] = run;
  return html`
    <li key=${run.at(-1).id} class="dot kind-${kindOf(event)}">
      <span class="sentence">${RunSentence(run)}</span>
      ${RelativeTime(event.time)}
    </li>
  `;
}

function RunSentence(run) {
  if (run.length === 1) return sentenceOf(run[0]);
  const animals = new Set(run.map(({ data }) => data.id)).size;
  const number = (animals === 1 ? run.length : animals).toLocaleString();
  // The page has forgotten what was before.
  const count = run.length === EVENTS_KEPT ? `At least ${number}` : number;
  return sentenceOfRun(run, count, animals);
}
