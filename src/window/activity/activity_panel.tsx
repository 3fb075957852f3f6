/** Activity in the store: the last events. On a narrow page, a button of the header opens it. */

import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { isHourLoaded } from "./activity.ts";
import { connectionProblem } from "../parts/connection.ts";
import { RunSentence, runsOf } from "../animal/event_sentences.tsx";
import { kindOf, type StoreEvent } from "../data/events.ts";
import { events } from "../data/feed.ts";
import { RelativeTime } from "../parts/relative_time.tsx";

/** The id of the panel. */
export const ACTIVITY_PANEL = "activity-panel";

const RUNS_SHOWN = 50;
const runs = computed(() => runsOf(events.value));

export function ActivityPanel(): JSX.Element {
  return (
    <aside id={ACTIVITY_PANEL} popover="auto" aria-label="Activity">
      <div id="activity" role="region" aria-label="Activity" tabIndex={0}>
        <h2>Last events</h2>
        <ol class="events">
          {runs.value.slice(0, RUNS_SHOWN).map((run) => <Run key={run.at(-1)!.id} run={run} />)}
        </ol>
        {isHourLoaded.value && events.value.length === 0 && (
          <p class="soft small">Nothing has happened in the last hour.</p>
        )}
        {!isHourLoaded.value && (
          <p class="soft small">
            {connectionProblem.value ? "Waiting for the connection …" : "Loading …"}
          </p>
        )}
      </div>
    </aside>
  );
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
