/** The tables of the engine: what the collections of the application say about all events and records. */

import { COLLECTIONS as COLLECTIONS_OF_APPLICATION } from "eventstore-less/application";
import type {
  Collection,
  ColumnDefinition,
  EventDefinition,
  EventType,
  Head,
  KindDefinition,
} from "./definitions.ts";

export const COLLECTIONS: readonly Collection[] = COLLECTIONS_OF_APPLICATION;

/** An event type, a kind of records or a column, and the name of the collection that defines it. */
type EventEntry = EventDefinition & { collection: string };
type KindEntry = KindDefinition & { collection: string };
export type ColumnEntry = ColumnDefinition & { collection: string };

/** All types of events. */
export const EVENTS = Object.fromEntries(COLLECTIONS.flatMap(({ name, events }) => {
  const definitions = Object.entries<EventDefinition>(events);
  return definitions.map(([type, definition]) => [type, { ...definition, collection: name }]);
})) as Record<EventType, EventEntry>;

export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** All kinds of records of the application, by the first element of their keys. */
export const KINDS: ReadonlyMap<string, KindEntry> = new Map(
  COLLECTIONS.flatMap(({ name, kinds }) => {
    return Object.entries(kinds).map(([kind, it]) => [kind, { ...it, collection: name }]);
  }),
);

/** All columns. */
export const COLUMNS: readonly ColumnEntry[] = COLLECTIONS.flatMap(({ name, column }) =>
  column === undefined ? [] : [{ ...column, collection: name }]
);

/** The kinds of the records of columns, which are blocks. */
export const COLUMN_KINDS = COLUMNS.map(({ kind }) => kind);

/** Number of the subjects of a collection that a head has, if its ids are numbers. */
export function subjectCount(collection: string, { types }: Pick<Head, "types">): number {
  const firstTypes = EVENT_TYPES.filter((type) => {
    const definition = EVENTS[type];
    return definition.collection === collection && definition.isFirst;
  });
  return firstTypes.reduce((sum, type) => sum + (types[type]?.count ?? 0), 0);
}
