/** The tables of the engine: what the collections of the application say about all events and records. */

import { COLLECTIONS as COLLECTIONS_OF_APPLICATION } from "eventstore-less/application";
import { objectEncoder } from "../encoding/object_encoder.ts";
import type { Collection, EventDefinition, EventType, KindDefinition } from "./definitions.ts";

export const COLLECTIONS: readonly Collection[] = COLLECTIONS_OF_APPLICATION;

/** An event type, the name of the collection that defines it, and what makes the text of its data. */
type EventEntry = EventDefinition & { collection: string; encode: (data: object) => string };

/** A kind of records, and the name of the collection that defines it. */
type KindEntry = KindDefinition & { collection: string };

/** All types of events. */
export const EVENTS = Object.fromEntries(COLLECTIONS.flatMap(({ name, events }) => {
  const definitions = Object.entries<EventDefinition>(events);
  return definitions.map(([type, definition]) => {
    return [type, { ...definition, collection: name, encode: objectEncoder(definition.data) }];
  });
})) as Record<EventType, EventEntry>;

export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** All kinds of records of the application, by the first element of their keys. */
export const KINDS: ReadonlyMap<string, KindEntry> = new Map(
  COLLECTIONS.flatMap(({ name, kinds }) => {
    return Object.entries(kinds).map(([kind, it]) => [kind, { ...it, collection: name }]);
  }),
);
