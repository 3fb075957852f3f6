// The events: those of the last 24 hours, and the stream of new ones.

import { readDetail, updateList } from "./animals.js";
import { parseJson, request, send, wait } from "./api.js";
import { attempt } from "./session.js";
import { setState, state } from "./state.js";

export const HOUR_MS = 3_600_000;

/** The types of events, each with the word for it. */
export const KINDS = { PetCreated: "added", PetUpdated: "changed", PetRemoved: "removed" };
const TYPES = Object.keys(KINDS);

const STREAM_PAUSE_MS = 250;
const EVENTS_KEPT = 1_000;
const BATCH_LENGTH = 1_000;
const DAY_BATCHES = 20;

/** Follows the store with one stream after the other. Does not end. */
export async function follow() {
  for (;;) {
    await followStream();
    await wait(STREAM_PAUSE_MS);
  }
}

async function followStream() {
  const headers = { accept: "text/event-stream" };
  const response = await send(`events?lastEventId=${state.position}`, { headers });
  for await (const lines of linesOf(response.body)) {
    const data = lines.filter((line) => line.startsWith("data: "));
    showEvents(data.map((line) => parseJson(line.slice("data: ".length))));
  }
}

/** Yields the lines that have arrived, until the stream ends or is lost. The next request shows which it was. */
async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true }));
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    yield lines;
  }
}

function showEvents(events) {
  state.connection = "Connected";
  state.position = events.at(-1)?.id ?? state.position;
  Object.assign(state, remembered(events, state));
  updateList(events);
  // Each event of the animal changes its ETag.
  const isDetailOld = events.some(({ data }) => data.id === state.detail?.pet.id);
  if (isDetailOld) attempt(readDetail);
}

/** Reads the events of the last day before the first list, in a limited number of batches. */
export async function loadLastDay() {
  const since = new Date(Date.now() - 24 * HOUR_MS).toISOString();
  let path = `events?limit=${BATCH_LENGTH}&since=${since}`;
  for (let batch = 0; batch < DAY_BATCHES; batch++) {
    const { body, nextPage } = await request(path);
    const events = body.filter(({ id }) => id <= state.openedAt);
    if (events.length === 0) return;
    Object.assign(state, remembered(events, state));
    path = nextPage;
  }
  setState({ message: "The last 24 hours had too many events to count them all" });
}

/** The newest events and the numbers of each hour, after some more events. */
function remembered(more, { events, hours }) {
  const newestFirst = [...events, ...more].sort((a, b) => a.id < b.id ? 1 : -1);
  const counted = { ...hours };
  for (const { time, type } of more) {
    const hour = Math.floor(Date.parse(time) / HOUR_MS);
    const counts = counted[hour] ?? [0, 0, 0];
    counted[hour] = counts.with(TYPES.indexOf(type), counts[TYPES.indexOf(type)] + 1);
  }
  return { events: newestFirst.slice(0, EVENTS_KEPT), hours: counted };
}
