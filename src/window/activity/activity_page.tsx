/** The page of the last events in the store. */

import { computed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { By } from "../animal/by.tsx";
import { kindOf } from "../data/events.ts";
import { BackLink } from "../navigation/back_link.tsx";
import { connectionProblem } from "../parts/connection.ts";
import { attempt } from "../parts/messages.tsx";
import { PageHeading } from "../parts/page_heading.tsx";
import { RelativeTime } from "../parts/relative_time.tsx";
import { activity, loadActivity, loadOlderActivity } from "./activity.ts";
import { type RunProps, RunSentence, runsOf } from "./event_sentences.tsx";

const runs = computed(() => runsOf(activity.value?.events ?? []));

export function ActivityPage(): JSX.Element {
  const isFailed = useSignal(false);
  const isUnknown = activity.value === undefined;
  const load = async () => {
    isFailed.value = false;
    isFailed.value = !await attempt("activity", loadActivity);
  };
  useEffect(() => {
    if (isUnknown) load();
  }, [isUnknown]);
  return (
    <article aria-busy={isUnknown && !isFailed.value}>
      <BackLink />
      <div class="facts">
        <PageHeading>Activity</PageHeading>
      </div>
      {isFailed.value && (
        <p class="note">
          <button type="button" onClick={load}>Try again</button>
        </p>
      )}
      {isUnknown && !isFailed.value && <p class="note">{connectionProblem.value || "Loading …"}</p>}
      {!isUnknown && <Runs />}
    </article>
  );
}

function Runs(): JSX.Element {
  const { hasOlder } = activity.value!;
  if (runs.value.length === 0) return <p class="empty">Nothing has happened yet.</p>;
  return (
    <>
      <ol class="events activity">
        {runs.value.map((run) => (
          <Run key={run.at(-1)!.id} run={run} isCut={hasOlder && run === runs.value.at(-1)} />
        ))}
      </ol>
      {hasOlder && <Older />}
    </>
  );
}

function Older(): JSX.Element {
  const isLoading = useSignal(false);
  const load = async () => {
    isLoading.value = true;
    await attempt("activity", loadOlderActivity);
    isLoading.value = false;
  };
  return (
    <p class="older">
      <button
        type="button"
        aria-disabled={isLoading.value}
        onClick={() => isLoading.value || load()}
      >
        Show older
      </button>
      <span class="soft small">The page of an animal has all that has happened to it.</span>
    </p>
  );
}

function Run({ run, isCut }: RunProps): JSX.Element {
  const [event] = run;
  return (
    <li class={`dot ${kindOf(event)}`}>
      <span class="sentence">
        <RunSentence run={run} isCut={isCut} />
      </span>
      <span class="soft small">
        <RelativeTime of={event.time} />
        <By event={event} />
      </span>
    </li>
  );
}
