/** Reads of the service that are repeated when they are stale. */

import { request, wait } from "./api.ts";
import { position } from "./feed.ts";

const BEHIND_PAUSE_MS = 100;

/** A read that runs once at a time. While it runs, any number of calls ask for one further run. */
export class Query {
  #read: () => Promise<void>;
  #pauseMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** After a run, the next one waits for at least `pauseMs`. */
  constructor(read: () => Promise<void>, pauseMs = 0) {
    this.#read = read;
    this.#pauseMs = pauseMs;
  }

  /** Resolves after a run that has begun after this call. */
  refresh(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    const run = this.#last.then(() => {
      this.#next = undefined;
      return this.#read();
    });
    this.#next = run;
    const ended = run.catch(() => {});
    this.#last = this.#pauseMs === 0 ? ended : ended.then(() => wait(this.#pauseMs));
    return run;
  }
}

/** Reads a resource as it is after all events that the page has: another instance may be behind for a moment. */
export async function readNow<Body>(path: string, int64Fields?: readonly string[]) {
  const seen = position.peek();
  for (;;) {
    const reply = await request<Body>(path, {}, int64Fields);
    const at = reply.headers.get("x-feed-position") ?? "";
    // After a reset, positions say nothing of earlier ones.
    if (seen === undefined || at >= seen || position.peek() === undefined) return { ...reply, at };
    await wait(BEHIND_PAUSE_MS);
  }
}
