/** Carries out a plan, several lines at a time. */

import type { Pet } from "../../../events/pet.ts";
import { ResponseError, write } from "../data/api.ts";
import { changeOf } from "../data/write_animal.ts";
import { type Entry, idempotencyKeyOf } from "./plan.ts";

/**
 * How many lines are in flight. Over HTTP/1.1, the browser sends five of them at a time, because one of its six
 * connections is the stream. Over HTTP/2, it sends all, so that a distant service costs little time.
 */
export const LINES_IN_FLIGHT = 16;

/** The key may not write, so no line can be imported. */
const FORBIDDEN = 403;

/** The interface's code for an Idempotency-Key of another animal. */
const KEY_REUSED = "idempotency_key_reused";

const REMOVED = "The animal was removed meanwhile";
const CHANGED =
  "Somebody else changed the animal meanwhile. Import the file again to see how it is now";

/** The outcome of a line. An animal is `present` if an earlier import has added it. */
export type LineOutcome =
  | { kind: "added" | "changed"; pet: Pet }
  | { kind: "present" }
  | { kind: "failed"; fault: string };

/** Sends all lines, and no further ones after `signal` is aborted. Rejects if no line can be sent. */
export async function runImport(
  entries: readonly Entry[],
  onOutcome: (entry: Entry, outcome: LineOutcome) => void,
  signal: AbortSignal,
): Promise<void> {
  // The workers share the queue.
  const queue = entries.values();
  const work = async () => {
    for (const entry of queue) {
      if (signal.aborted) return;
      onOutcome(entry, await sendEntry(entry));
    }
  };
  const workers = Array.from({ length: LINES_IN_FLIGHT }, work);
  try {
    await Promise.all(workers);
  } finally {
    // The other lines would fail for the same reason.
    queue.toArray();
    await Promise.allSettled(workers);
  }
}

async function sendEntry(entry: Entry): Promise<LineOutcome> {
  try {
    return await (entry.kind === "addition" ? add(entry) : change(entry));
  } catch (error) {
    const isOfLine = error instanceof ResponseError && error.status !== FORBIDDEN;
    if (!isOfLine) throw error;
    return { kind: "failed", fault: error.message };
  }
}

async function add(entry: Extract<Entry, { kind: "addition" }>): Promise<LineOutcome> {
  const key = { "idempotency-key": idempotencyKeyOf(entry) };
  try {
    const { headers, body, isUnclear } = await write<Pet>("POST", "pets", entry.pet, key);
    // After a lost response, the request that was replayed may be an earlier one of this import.
    const isPresent = headers.has("idempotency-replayed") && !isUnclear;
    return isPresent ? { kind: "present" } : { kind: "added", pet: body };
  } catch (error) {
    // An earlier import has added an animal whose name differs in what nobody sees.
    const isLikeEarlier = error instanceof ResponseError && error.code === KEY_REUSED;
    if (isLikeEarlier) return { kind: "present" };
    throw error;
  }
}

/** Changes an animal only if it still is as the preview has shown it. */
async function change(entry: Extract<Entry, { kind: "change" }>): Promise<LineOutcome> {
  const { kind, after } = await changeOf(entry.before, entry.patch).send();
  if (kind === "done") return { kind: "changed", pet: after! };
  return { kind: "failed", fault: after === undefined ? REMOVED : CHANGED };
}
