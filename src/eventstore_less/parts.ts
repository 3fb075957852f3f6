/** The tables of the engine: what the parts of the application say about all events and records. */

import { type EventBody, PARTS } from "eventstore-less/application";
import type { EventDefinition, KindDefinition, Part } from "./definitions.ts";

export type EventType = EventBody["type"];

const parts: readonly Part[] = PARTS;

/** What the engine knows of a type of events, and of a kind of records. */
type EventEntry = EventDefinition & Pick<Part, "collection">;
type KindEntry = KindDefinition & Pick<Part, "collection">;

/** All types of events. */
export const EVENTS = Object.fromEntries(parts.flatMap(({ collection, events }) => {
  const definitions = Object.entries<EventDefinition>(events);
  return definitions.map(([type, definition]) => [type, { ...definition, collection }]);
})) as Record<EventType, EventEntry>;

export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** All kinds of records of the application, by the first part of their keys. */
export const KINDS: ReadonlyMap<string, KindEntry> = new Map(
  parts.flatMap(({ collection, kinds }) => {
    return Object.entries(kinds).map(([kind, definition]) => [kind, { ...definition, collection }]);
  }),
);
