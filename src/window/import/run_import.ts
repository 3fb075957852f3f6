/** Carries out a plan. */

import type { Pet } from "../../../events/pet.ts";
import { isOfNone, isOvertaken, ResponseError } from "../data/api.ts";
import { changeOf } from "../data/write_animal.ts";
import { type Answer, type Operation, sendInBatches } from "../data/write_batch.ts";
import { type Entry, idempotencyKeyOf } from "./plan.ts";

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

/** A line whose outcome is known. */
export interface EndedLine {
  entry: Entry;
  outcome: LineOutcome;
}

/** Sends all lines, and no further ones after `signal` is aborted. Rejects if no line can be sent. */
export async function runImport(
  entries: readonly Entry[],
  onEnded: (lines: readonly EndedLine[]) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const answers of sendInBatches(entries, operationOf)) {
    onEnded(answers.map((answer) => ({ entry: answer.item, outcome: outcomeOf(answer) })));
    if (signal.aborted) return;
  }
}

/** Changes an animal only if it still is as the preview has shown it. */
function operationOf(entry: Entry): Operation {
  if (entry.kind === "change") return changeOf(entry.before, entry.patch).operation;
  return { action: "add", fields: entry.pet, idempotencyKey: idempotencyKeyOf(entry) };
}

/** Throws if no line can be sent. */
function outcomeOf({ item, pet, error, wasDone }: Answer<Entry>): LineOutcome {
  if (error === undefined) {
    if (item.kind === "change") return { kind: "changed", pet: pet! };
    return wasDone ? { kind: "present" } : { kind: "added", pet: pet! };
  }
  const isOfLine = error instanceof ResponseError && error.status !== FORBIDDEN;
  if (!isOfLine) throw error;
  // An earlier import has added an animal whose name differs in what nobody sees.
  if (error.code === KEY_REUSED) return { kind: "present" };
  if (!isOvertaken(error)) return { kind: "failed", fault: error.message };
  return { kind: "failed", fault: isOfNone(error) ? REMOVED : CHANGED };
}
