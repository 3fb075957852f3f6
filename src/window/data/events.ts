/** Events as the feed has them. */

import type { Pet } from "../../../events/pet.ts";
import type { PetEventBody } from "../../../events/pet_event.ts";

/** Any event, also of a type that this page does not know. */
export interface StoreEvent {
  /** Its position in the log. Positions sort as texts. */
  id: string;
  type: string;
  /** The thing that changed, for example `pets/7`. */
  subject: string;
  /** When it happened (RFC 3339). */
  time: string;
  /** The id of the API key that caused it, and its label, which only a key that may write gets. */
  actor?: string;
  actorlabel?: string;
  data: unknown;
}

export type PetEvent = Omit<StoreEvent, "type" | "data"> & PetEventBody;

const KNOWN_TYPES: Record<PetEventBody["type"], Kind> = {
  PetCreated: "added",
  PetUpdated: "changed",
  PetRemoved: "removed",
  PetRestored: "restored",
};

export type Kind = "added" | "changed" | "removed" | "restored";

export function isPetEvent(event: StoreEvent): event is PetEvent {
  return Object.hasOwn(KNOWN_TYPES, event.type);
}

/** The animal after an event, or before its removal. */
export function petIn({ data }: PetEvent): Pet {
  const { previous: _, ...pet } = data as Pet & { previous?: unknown };
  return pet;
}

/** An event of an unknown type has changed something. */
export function kindOf(event: StoreEvent): Kind {
  return isPetEvent(event) ? KNOWN_TYPES[event.type] : "changed";
}

/** The id of the category that the event is about; `undefined` if it is about something else. */
export function categoryIdOf({ subject }: StoreEvent): bigint | undefined {
  const [, id] = /^categories\/(-?\d+)$/.exec(subject) ?? [];
  return id === undefined ? undefined : BigInt(id);
}

/** The id of the animal that the event is about, also if its type is unknown; `undefined` if it is about something else. */
export function petIdOf({ subject }: StoreEvent): number | undefined {
  const [, id] = /^pets\/(\d+)$/.exec(subject) ?? [];
  return id === undefined ? undefined : Number(id);
}
