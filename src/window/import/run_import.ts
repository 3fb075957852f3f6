/** Carries out a plan, several lines at a time. */

import type { Entry } from "./plan.ts";

/**
 * How many lines are in flight. Over HTTP/1.1, the browser sends five of them at a time, because one of its six
 * connections is the stream. Over HTTP/2, it sends all, so that a distant service costs little time.
 */
export const WORKERS = 16;

/** The outcome of a line. An animal is `present` if an earlier import has added it. */
export type Outcome =
  | { kind: "added" | "present" | "changed" }
  | { kind: "failed"; fault: string };

/**
 * The outcome of one request: `away` means that the same request may succeed after a pause, and it is unclear if it may
 * have landed.
 */
export type Attempt = Outcome | { kind: "away"; pauseMs: number; isUnclear: boolean };

/** The earlier requests with a line. */
export interface Earlier {
  count: number;
  isUnclear: boolean;
}

export interface ImportRun {
  /** Sends one line. Rejects if no line can be sent, for example because the key may only read. */
  send: (entry: Entry, earlier: Earlier) => Promise<Attempt>;
  onOutcome: (entry: Entry, outcome: Outcome) => void;
  /** Rejects if the signal is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Ends the run. The lines in flight are still completed. */
  signal: AbortSignal;
}

/** Sends all lines, each until its outcome is known. Resolves when that is so, or the run was ended. */
export async function runImport(
  entries: readonly Entry[],
  run: ImportRun,
): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([run.signal, failure.signal]);
  const queue = entries.values();
  const pace = new Pace(run.wait, signal);
  const work = async () => {
    // The workers share the queue.
    for (const entry of queue) {
      const outcome = await outcomeOf(entry, run.send, pace, signal);
      if (outcome === undefined) return;
      run.onOutcome(entry, outcome);
    }
  };
  const workers = Array.from({ length: WORKERS }, work);
  try {
    await Promise.all(workers);
  } finally {
    // The other lines would fail for the same reason.
    failure.abort();
    await Promise.allSettled(workers);
  }
}

/** Resolves to `undefined` if the run ends before the outcome is known. */
async function outcomeOf(
  entry: Entry,
  send: ImportRun["send"],
  pace: Pace,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  let earlier: Earlier = { count: 0, isUnclear: false };
  for (;;) {
    await pace.ready();
    if (signal.aborted) return undefined;
    const attempt = await send(entry, earlier);
    if (attempt.kind !== "away") return attempt;
    pace.pause(attempt.pauseMs);
    earlier = {
      count: earlier.count + 1,
      isUnclear: earlier.isUnclear || attempt.isUnclear,
    };
  }
}

/** All workers wait while the service asks one of them to wait. */
class Pace {
  #wait: ImportRun["wait"];
  #signal: AbortSignal;
  #pauses = new Set<Promise<void>>();

  constructor(wait: ImportRun["wait"], signal: AbortSignal) {
    this.#wait = wait;
    this.#signal = signal;
  }

  pause(ms: number): void {
    // The end of the run ends a pause too.
    const pause = this.#wait(ms, this.#signal).catch(() => {});
    this.#pauses.add(pause);
    pause.then(() => this.#pauses.delete(pause));
  }

  async ready(): Promise<void> {
    await Promise.all(this.#pauses);
  }
}
