import type { Recorded } from "eventstore-less";
import type { RecordedEvent } from "../../events/all_events.ts";
import { PET_EVENT_TYPES, type PetEventBody } from "../../events/pet_event.ts";

/** An event with the state of a pet: after the event, or before the removal. */
export type PetEvent = Recorded<PetEventBody>;

export function isPetEvent(event: RecordedEvent): event is PetEvent {
  return (PET_EVENT_TYPES as readonly string[]).includes(event.type);
}
