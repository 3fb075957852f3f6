/** Finds the key that last changed an animal in the latest events of the stream. */

import { signal } from "@preact/signals";
import { petOf } from "./animals.ts";
import { isPetEvent, petIdOf, type StoreEvent } from "./events.ts";
import { keyInfo } from "./key_info.ts";
import { isSamePet } from "./write_animal.ts";

/** The last events, the newest one last. */
const lastEvents = signal<readonly StoreEvent[]>([]);

/** Older events are forgotten. */
export function followChanges(events: readonly StoreEvent[]): void {
  lastEvents.value = [...lastEvents.value, ...events].slice(-1_000);
}

/** The label of the key that made an animal as the page knows it; `undefined` for the reader's own key. */
export function changerOfPet(id: number): string | undefined {
  const pet = petOf(id);
  const event = lastEvents.value.findLast((it) => petIdOf(it) === id);
  if (pet === undefined || event === undefined || !isPetEvent(event)) return undefined;
  // An older event, which did not make the animal as it is, says nothing about that.
  const isIt = isSamePet(event.data, pet) && event.actor !== keyInfo.value?.id;
  return isIt ? event.actorlabel : undefined;
}
