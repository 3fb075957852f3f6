/** The events of the store: one stream, which is renewed when it ends, and pauses while nobody sees the page. */

import { signal } from "@preact/signals";
import type { StoreEvent } from "./events.ts";
import { parseJson, ResponseError, send, wait } from "./api.ts";
import { Collector } from "../parts/collector.ts";

const STREAM_PAUSE_MS = 250;
/** The service refuses the stream, and may not do so later. */
const FAILURE_PAUSE_MS = 5_000;
/** The service breaks the silence every 15 seconds. */
const LONGEST_SILENCE_MS = 45_000;
const GONE = 410;

/** Position of the log from which the stream continues; `undefined` until a list names one. */
export const position = signal<string | undefined>(undefined);

type Listener = (batch: readonly StoreEvent[]) => void;
const listeners = new Set<Listener>();

/** Calls `listener` with each batch of new events, the oldest first. Returns a function that removes the listener. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the store. Does not end. `onReset` is called if the service has another log, and reads everything again. */
export async function follow(onReset: () => Promise<void>): Promise<never> {
  for (;;) {
    await untilVisible();
    if (position.value === undefined) {
      // The first list has failed.
      await wait(STREAM_PAUSE_MS);
      continue;
    }
    const stream = new AbortController();
    const pause = () => {
      // A browser has few connections to a host, and each tab with a stream holds one.
      if (document.visibilityState === "hidden") stream.abort();
    };
    // A stream of the connection before may be silent for long, and nothing else would notice that it is lost.
    const renew = () => stream.abort();
    document.addEventListener("visibilitychange", pause);
    addEventListener("online", renew);
    addEventListener("offline", renew);
    try {
      await followStream(stream);
    } catch (error) {
      const isReset = error instanceof ResponseError && error.status === GONE;
      if (isReset) await onReset();
      else if (!stream.signal.aborted) await wait(FAILURE_PAUSE_MS);
    } finally {
      document.removeEventListener("visibilitychange", pause);
      removeEventListener("online", renew);
      removeEventListener("offline", renew);
    }
    await wait(STREAM_PAUSE_MS);
  }
}

async function untilVisible(): Promise<void> {
  while (document.visibilityState === "hidden") {
    await new Promise((resolve) => {
      document.addEventListener("visibilitychange", resolve, { once: true });
    });
  }
}

async function followStream(stream: AbortController): Promise<void> {
  const { response } = await send(`events?actors=true&lastEventId=${position.value}`, {
    headers: { accept: "text/event-stream" },
    signal: stream.signal,
  });
  const collected = new Collector(take);
  try {
    for await (const lines of linesOf(response.body!, stream)) {
      const data = lines.filter((line) => line.startsWith("data: "));
      collected.add(data.map((line) => parseJson(line.slice("data: ".length))));
    }
  } finally {
    collected.flush();
  }
}

function take(batch: readonly StoreEvent[]): void {
  position.value = batch.at(-1)!.id;
  for (const listener of listeners) {
    try {
      listener(batch);
    } catch (error) {
      // The other parts of the page still get the events, which come only once.
      reportError(error);
    }
  }
}

/** Yields the lines that have arrived, until the stream ends, is lost or is silent for too long. */
async function* linesOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  stream: AbortController,
): AsyncGenerator<string[]> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const silence = setTimeout(() => stream.abort(), LONGEST_SILENCE_MS);
    const { done, value } = await reader.read().catch(() => ({ done: true, value: "" }));
    clearTimeout(silence);
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    yield lines;
  }
}
