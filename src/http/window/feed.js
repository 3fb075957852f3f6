// The events: those of the last 24 hours, and the stream of new ones.

import { showEventsOfAnimal } from "./animal_history.js";
import { updateList } from "./animals.js";
import { parseJson, request, send, wait } from "./api.js";
import { isOfAnimal, kindOf } from "./kinds.js";
import { EVENTS_KEPT, setState, state } from "./state.js";

export const HOUR_MS = 3_600_000;

const STREAM_PAUSE_MS = 250;
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

function showEvents(all) {
  state.position = all.at(-1)?.id ?? state.position;
  const events = all.filter(isOfAnimal);
  Object.assign(state, remembered(events, state));
  updateList(events);
  showEventsOfAnimal(events);
}

/** Reads the events of the last day before the first list, in a limited number of batches. */
export async function loadLastDay() {
  const since = new Date(Date.now() - 24 * HOUR_MS).toISOString();
  let path = `events?limit=${BATCH_LENGTH}&since=${since}`;
  for (let batch = 0; batch < DAY_BATCHES; batch++) {
    const { body, nextPage } = await request(path);
    const events = body.filter(({ id }) => id <= state.openedAt);
    if (events.length === 0) return;
    setState(remembered(events.filter(isOfAnimal), state));
    path = nextPage;
  }
  setState({ isDayCut: true });
}

/** The newest events and the numbers of each hour, after some more events. */
function remembered(more, { events, hours }) {
  const newestFirst = [...events, ...more].sort((a, b) => a.id < b.id ? 1 : -1);
  const counted = { ...hours };
  for (const event of more) {
    const hour = Math.floor(Date.parse(event.time) / HOUR_MS);
    const kind = kindOf(event);
    const counts = counted[hour] ?? [0, 0, 0];
    counted[hour] = counts.with(kind, counts[kind] + 1);
  }
  return { events: newestFirst.slice(0, EVENTS_KEPT), hours: counted };
}
