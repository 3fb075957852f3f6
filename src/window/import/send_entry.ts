/** Sends one line of an import to the service. */

import type { Pet } from "../../../events/pet.ts";
import {
  errorOf,
  fetchOnce,
  isAway,
  NOT_FOUND,
  noteAway,
  noteBack,
  parseJson,
  pauseMs,
  PRECONDITION_FAILED,
  writeOptions,
} from "../api.ts";
import { formatPet, type Patch } from "../fields.tsx";
import { type Addition, type Change, type Entry, idempotencyKeyOf } from "./plan.ts";
import type { Attempt, Earlier } from "./run_import.ts";

/** The key may not write, so no line can be imported. */
const FORBIDDEN = 403;
const RATE_LIMITED = 429;

const REMOVED = "The animal was removed meanwhile";
const CHANGED =
  "Somebody else changed the animal meanwhile. Import the file again to see how it is now";
const NO_ETAG = "Nothing was changed, because a proxy removes ETags";

export function sendEntry(entry: Entry, earlier: Earlier): Promise<Attempt> {
  return entry.kind === "addition" ? add(entry, earlier) : change(entry, earlier);
}

async function add(addition: Addition, earlier: Earlier): Promise<Attempt> {
  const headers = { "idempotency-key": idempotencyKeyOf(addition) };
  const response = await fetchOnce("pets", writeOptions("POST", addition.pet, headers));
  if (!response.ok) return await failureOf(response, earlier);
  noteBack();
  const isReplayed = response.headers.has("idempotency-replayed");
  // The request that was replayed may be an earlier one of this import.
  return { kind: isReplayed && !earlier.isUnclear ? "present" : "added" };
}

/** Changes an animal only if it still is as the preview has shown it. */
async function change({ before, patch }: Change, earlier: Earlier): Promise<Attempt> {
  const read = await fetchOnce(`pets?ids=${before.id}`);
  if (!read.ok) return await failureOf(read, earlier);
  const [now]: Pet[] = parseJson(await read.text());
  if (now === undefined) return { kind: "failed", fault: REMOVED };
  // The response to an earlier try may be lost.
  const isDone = formatPet(now) === formatPet(patched(before, patch));
  if (isDone) return { kind: "changed" };
  if (formatPet(now) !== formatPet(before)) return { kind: "failed", fault: CHANGED };
  const etag = read.headers.get("etag");
  if (etag === null) return { kind: "failed", fault: NO_ETAG };
  const options = writeOptions("PATCH", patch, { "if-match": etag });
  const response = await fetchOnce(`pets/${before.id}`, options);
  if (!response.ok) return await failureOf(response, earlier);
  noteBack();
  return { kind: "changed" };
}

function patched(pet: Pet, patch: Patch): Pet {
  const fields = Object.entries({ ...pet, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(fields) as unknown as Pet;
}

async function failureOf(response: Response, earlier: Earlier): Promise<Attempt> {
  const error = await errorOf(response);
  if (isAway(response)) {
    noteAway(error);
    const isUnclear = response.status !== RATE_LIMITED;
    return { kind: "away", pauseMs: pauseMs(response, earlier.count + 1), isUnclear };
  }
  switch (response.status) {
    case FORBIDDEN:
      throw error;
    case NOT_FOUND:
      return { kind: "failed", fault: REMOVED };
    case PRECONDITION_FAILED:
      return { kind: "failed", fault: CHANGED };
    default:
      return { kind: "failed", fault: error.message };
  }
}
