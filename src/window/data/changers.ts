/** Who has made an animal as it is, as far as the stream of events has said it. */

import { signal } from "@preact/signals";
import { isRemoved, petOf } from "./animals.ts";
import { isPetEvent, petIdOf, petIn, type StoreEvent } from "./events.ts";
import { keyInfo } from "./key_info.ts";
import { isSamePet } from "./write_animal.ts";

/** Older changes are forgotten. */
const CHANGES_MAX = 1_000;

/** The last events, the newest one last. */
const lastEvents = signal<readonly StoreEvent[]>([]);

export function followChanges(events: readonly StoreEvent[]): void {
  lastEvents.value = [...lastEvents.value, ...events].slice(-CHANGES_MAX);
}

/** The label of the key that made an animal as the page knows it, or removed it; `undefined` for the reader's own key. */
export function changerOfPet(id: number): string | undefined {
  const pet = petOf(id);
  const event = lastEvents.value.findLast((it) => petIdOf(it) === id);
  if (pet === undefined || event === undefined || !isPetEvent(event)) return undefined;
  // An older event, which did not make the animal as it is, says nothing about that.
  const isIt = (event.type === "PetRemoved") === isRemoved(id) && isSamePet(petIn(event), pet);
  return isIt && event.actor !== keyInfo.value?.id ? event.actorlabel : undefined;
}
