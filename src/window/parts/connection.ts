/** What the page knows of its connection, for every part that waits for it. */

import { computed, signal } from "@preact/signals";

/** The requests that wait for the service, each with the reason. The map is replaced after each change. */
const unanswered = signal<ReadonlyMap<symbol, string>>(new Map());

const hasAnswered = signal(false);

/** The reason if the service does not respond; "" while nothing waits for it, `undefined` before its first response. */
export const connectionProblem = computed(() => {
  const reason = [...unanswered.value.values()].at(-1);
  if (reason !== undefined) return reason;
  return hasAnswered.value ? "" : undefined;
});

/** A request waits, and is sent again. */
export function noteWaiting(request: symbol, reason: string): void {
  unanswered.value = new Map(unanswered.value).set(request, reason);
}

export function noteAnswer(): void {
  hasAnswered.value = true;
}

/** A request has its response, or is given up. */
export function noteEnd(request: symbol): void {
  if (!unanswered.value.has(request)) return;
  const others = new Map(unanswered.value);
  others.delete(request);
  unanswered.value = others;
}
