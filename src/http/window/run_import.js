// Carries out an import. Each line has an Idempotency-Key of its own, so an import can be repeated.

import {
  errorOf,
  fetchOnce,
  isAway,
  noteAway,
  noteBack,
  pauseMs,
  wait,
  writeOptions,
} from "./api.js";

/** How many lines are sent at a time. */
const WORKERS = 64;
/** These concern the key, and so every line. */
const STATUSES_OF_KEY = [401, 403];

/**
 * Adds the animals of a plan, and calls `onProgress` with each entry and its outcome: `{ isNew }`, or `{ fault }`.
 * Resolves once all are done, or soon after `signal` is aborted. Rejects if the key may not write.
 */
export async function runImport({ hash, entries }, { onProgress, signal }) {
  const pace = new Pace();
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  const queue = entries.values();
  const work = async () => {
    // The workers share the queue.
    for (const entry of queue) {
      if (stop.aborted) return;
      const options = writeOptions("POST", entry.pet, {
        "idempotency-key": `${hash}-${entry.line}`,
      });
      const outcome = await add(options, pace, stop);
      if (outcome !== undefined) onProgress(entry, outcome);
    }
  };
  try {
    await Promise.all(Array.from({ length: WORKERS }, work));
  } finally {
    // The other workers would fail for the same reason.
    failure.abort();
  }
}

/** Adds one animal, however often that must be tried. Resolves to `undefined` if the import is stopped before. */
async function add(options, pace, signal) {
  for (let tries = 1; !signal.aborted; tries++) {
    await pace.ready();
    const response = await fetchOnce("pets", options);
    if (response.ok) {
      noteBack();
      return { isNew: !response.headers.has("idempotency-replayed") };
    }
    const error = await errorOf(response);
    if (STATUSES_OF_KEY.includes(response.status)) throw error;
    if (!isAway(response)) return { fault: error.message };
    noteAway(response, error);
    pace.pause(pauseMs(response, tries));
  }
}

/** All workers wait while the service asks one of them to wait. */
class Pace {
  #untilMs = 0;

  pause(ms) {
    this.#untilMs = Math.max(this.#untilMs, Date.now() + ms);
  }

  async ready() {
    for (;;) {
      const remainingMs = this.#untilMs - Date.now();
      if (remainingMs <= 0) return;
      await wait(remainingMs);
    }
  }
}
