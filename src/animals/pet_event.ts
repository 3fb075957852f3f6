import type { Recorded, RecordedEvent } from "eventstore-less/definitions";
import { PET_EVENT_TYPES, type PetEventBody } from "../../events/pet_event.ts";

/** An event that says how a pet is from then on, or was before it was removed. */
export type PetEvent = Recorded<PetEventBody>;

export function isPetEvent(event: RecordedEvent): event is PetEvent {
  return (PET_EVENT_TYPES as readonly string[]).includes(event.type);
}
