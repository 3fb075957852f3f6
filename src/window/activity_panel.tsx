/** Activity in the store: a chart of the last 24 hours, and the last events. On a narrow page, a button of the header opens it. */

import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { HOUR_MS, hours, isDayCut, isDayLoaded } from "./activity.ts";
import { connectionProblem } from "./api.ts";
import { RunSentence, runsOf } from "./event_sentences.tsx";
import { kindOf, KINDS, type StoreEvent } from "./events.ts";
import { events } from "./feed.ts";
import { now, RelativeTime } from "./relative_time.tsx";

/** The id of the panel. */
export const ACTIVITY_PANEL = "activity-panel";

const RUNS_SHOWN = 50;
const HOURS_SHOWN = 24;

/** Units of the chart: each hour has room for a bar of each kind. */
const HOUR_WIDTH = 10;
const BAR_DISTANCE = 3;
const CHART_WIDTH = HOURS_SHOWN * HOUR_WIDTH;
const CHART_HEIGHT = 60;

const formatTime = new Intl.DateTimeFormat([], { timeStyle: "short" }).format;

const runs = computed(() => runsOf(events.value));

export function ActivityPanel(): JSX.Element {
  return (
    <aside id={ACTIVITY_PANEL} popover="auto" aria-label="Activity">
      <div id="activity" role="region" aria-label="Activity" tabIndex={0}>
        <Day />
        <h2>Last events</h2>
        <ol class="events">
          {runs.value.slice(0, RUNS_SHOWN).map((run) => <Run key={run.at(-1)!.id} run={run} />)}
        </ol>
        {isDayLoaded.value && events.value.length === 0 && (
          <p class="soft small">Nothing has happened today.</p>
        )}
        {!isDayLoaded.value && (
          <p class="soft small">
            {connectionProblem.value ? "Waiting for the connection …" : "Loading …"}
          </p>
        )}
      </div>
    </aside>
  );
}

/** How many events of each kind each of the last 24 hours had, if it had any. */
function Day(): JSX.Element | null {
  const firstHour = Math.floor(now.value / HOUR_MS) - (HOURS_SHOWN - 1);
  const none = KINDS.map(() => 0);
  const counts = Array.from(
    { length: HOURS_SHOWN },
    (_, it) => hours.value[firstHour + it] ?? none,
  );
  const totals = KINDS.map((_, place) => counts.reduce((sum, ofHour) => sum + ofHour[place], 0));
  const shown = KINDS.filter((_, place) => totals[place] > 0);
  if (shown.length === 0) return null;
  return (
    <>
      <h2>Last 24 hours</h2>
      <svg
        class="chart"
        role="img"
        aria-labelledby="day"
        viewBox={`0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`}
        preserveAspectRatio="none"
      >
        {KINDS.map((kind, place) => <path key={kind} class={kind} d={barsOf(place, counts)} />)}
      </svg>
      <p class="axis">
        <time>{hourWords(firstHour * HOUR_MS)}</time>
        <time>now</time>
      </p>
      <p class="legend" id="day">
        {shown.map((kind) => (
          <span key={kind} class={`dot ${kind}`}>
            {isDayLoaded.value && totals[KINDS.indexOf(kind)].toLocaleString("en")} {kind}
          </span>
        ))}
      </p>
      {isDayCut.value && <p class="soft small">The day had too many events to count them all.</p>}
    </>
  );
}

/** The time of an hour of the last 24, with its day if that is not today. */
function hourWords(time: number): string {
  const isToday = new Date(time).getDate() === new Date(now.value).getDate();
  return isToday ? formatTime(time) : `Yesterday, ${formatTime(time)}`;
}

/** The path of the bars of a kind. The highest bar of all kinds is as high as the chart. */
function barsOf(place: number, counts: readonly (readonly number[])[]): string {
  const most = Math.max(1, ...counts.flat());
  const bars = counts.map((ofHour, hour) => {
    const x = HOUR_WIDTH * hour + BAR_DISTANCE * place + 2;
    const height = CHART_HEIGHT * ofHour[place] / most;
    return `M${x} ${CHART_HEIGHT}v${-height}`;
  });
  return bars.join("");
}

function Run({ run }: { run: readonly StoreEvent[] }): JSX.Element {
  const [event] = run;
  return (
    <li class={`dot ${kindOf(event)}`}>
      <span class="sentence">
        <RunSentence run={run} hasLinks />
      </span>
      <RelativeTime of={event.time} />
    </li>
  );
}
