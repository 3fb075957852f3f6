// Groups events of which many happened at once, such as those of an import.

import { verbOf } from "./event_sentences.js";

const SHORTEST_RUN = 3;
const LONGEST_GAP_MS = 60_000;

/** The last result of {@linkcode runsOf}: while the reader scrolls, nothing happens. */
let last = { events: undefined, runs: [] };

/** Splits events, the newest first, into runs. Events that are no run are alone. */
export function runsOf(events) {
  if (last.events !== events) last = { events, runs: findRuns(events) };
  return last.runs;
}

function findRuns(events) {
  const runs = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run !== undefined && continues(run, event)) run.push(event);
    else runs.push([event]);
  }
  return runs.flatMap((run) => run.length < SHORTEST_RUN ? run.map((event) => [event]) : [run]);
}

function continues(run, event) {
  const later = run.at(-1);
  const gapMs = Date.parse(later.time) - Date.parse(event.time);
  return verbOf(later) === verbOf(event) && gapMs <= LONGEST_GAP_MS;
}
