/** Who has made an animal or a category as it is, as far as the stream of events has said it. */

import { signal } from "@preact/signals";
import { isRemoved, petOf } from "./animals.ts";
import { isPetEvent, petIn, type StoreEvent } from "./events.ts";
import { keyInfo } from "./key_info.ts";
import { isSamePet } from "./write_animal.ts";

/** Older changes are forgotten. */
const CHANGES_MAX = 1_000;

/** The last event of each subject, the newest one last. */
const lastChanges = signal<ReadonlyMap<string, StoreEvent>>(new Map());

export function followChanges(events: readonly StoreEvent[]): void {
  const after = new Map(lastChanges.value);
  for (const event of events) {
    after.delete(event.subject);
    after.set(event.subject, event);
  }
  lastChanges.value = new Map([...after].slice(-CHANGES_MAX));
}

/** The label of the key that made an animal as the page knows it, or removed it; `undefined` for the reader's own key. */
export function changerOfPet(id: number): string | undefined {
  const pet = petOf(id);
  return changerOf(`pets/${id}`, (event) => {
    if (pet === undefined || !isPetEvent(event)) return false;
    const isRemoval = event.type === "PetRemoved";
    return isRemoval === isRemoved(id) && isSamePet(petIn(event), pet);
  });
}

/** The label of the key that gave a category its present name, or removed it; `undefined` for the reader's own key. */
export function changerOfName(id: bigint, name: string | undefined): string | undefined {
  return changerOf(`categories/${id}`, ({ type, data }) => {
    return (type === "CategoryRemoved" ? undefined : Object(data).name) === name;
  });
}

/** An older event, which did not make the subject as it is, says nothing about that. */
function changerOf(subject: string, isIt: (event: StoreEvent) => boolean): string | undefined {
  const event = lastChanges.value.get(subject);
  const isKnown = event !== undefined && event.actor !== keyInfo.value?.id && isIt(event);
  return isKnown ? event.actorlabel : undefined;
}
