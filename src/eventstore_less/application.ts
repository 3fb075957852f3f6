/**
 * An application as a value: its name, and what its collections say about all events and records. Everything of the
 * engine that depends on it takes it as an argument, so a process can have several.
 */

import { applicationFaults } from "./application_faults.ts";
import {
  type CompleteCollection,
  completeCollection,
  type CompleteEvent,
  type CompleteKind,
} from "./complete_collection.ts";
import { objectEncoder } from "./encoding/object_encoder.ts";
import { schemaMembers } from "./encoding/schema_members.ts";
import type { Body, Collection, ProjectionKey } from "./definitions.ts";
import { linePatternOf } from "./log/line_text.ts";

/** What a caller gives to {@linkcode defineApplication}. */
export interface ApplicationDefinition<Collections extends readonly Collection<never>[]> {
  /** For people, for example User Registry. In URNs, SQL and metrics it has dashes or underscores. */
  name: string;
  /** The kinds of subjects, with their events and records. */
  collections: Collections;
}

/** An event type, the name of the collection that defines it, and what makes its text and its schema. */
export interface EventEntry extends CompleteEvent {
  /** The name of the collection that defines it. */
  collection: string;
  /** Whether a text is the id of a subject of the collection. */
  isId(text: string): boolean;
  /** The keys of the records that hold the state of a subject of the collection. */
  keysOf(id: string): readonly ProjectionKey[];
  /** The text of the data in a line, with the members in the order of the schema. */
  encode: (data: object) => string;
  /** The names of all members of the data, also of objects in it. */
  memberNames: ReadonlySet<string>;
  /** The name of the schema of its data, without the version: `urn:user-registry:user-created` for `UserCreated`. */
  schema: string;
  /** The versions of the schema, in order. Since format 6, a version is named after a release. */
  versions: readonly string[];
}

/** A kind of records, and the name of the collection that defines it. */
export type KindEntry = CompleteKind & { collection: string };

/** The events of a collection, or of an application. */
export type EventBodyOf<Of> = Of extends Collection<infer EventBody> ? EventBody
  : Of extends Application<infer EventBody> ? EventBody
  : never;

/** An application. {@linkcode defineApplication} makes it; the engine reads its members. */
export class Application<EventBody extends Body = Body> {
  /** Its name for people. */
  readonly name: string;
  /** In URNs and for PostgreSQL's list of clients: `user-registry` for User Registry. */
  readonly dashedName: string;
  /** In SQL and in metrics: `user_registry`. */
  readonly sqlName: string;
  /** The `source` of its events. */
  readonly eventSource: string;
  /** Its collections, with all defaults filled in. */
  readonly collections: readonly CompleteCollection[];
  /** Its types of events, by their names. */
  readonly events: Readonly<Record<string, EventEntry>>;
  /** The names of its types of events. */
  readonly eventTypes: readonly EventBody["type"][];
  /** The kinds of its records, by the first element of their keys. */
  readonly kinds: ReadonlyMap<string, KindEntry>;
  /** Matches a line of its log. */
  readonly linePattern: RegExp;
  /** Only for the compiler: the union of its events. */
  declare readonly eventBody?: EventBody;

  /** Checks nothing: {@linkcode defineApplication} does. */
  constructor(name: string, collections: readonly CompleteCollection[]) {
    this.name = name;
    this.dashedName = name.toLowerCase().replaceAll(" ", "-");
    this.sqlName = this.dashedName.replaceAll("-", "_");
    this.eventSource = `urn:${this.dashedName}`;
    this.collections = collections;
    this.events = Object.fromEntries(
      collections.flatMap(({ name: collection, isId, keysOf, events }) => {
        return Object.entries(events).map(([type, definition]) => {
          const schema = schemaNameOf(this.eventSource, type);
          const versions = versionsOf(definition);
          const encode = objectEncoder(definition.data);
          const memberNames = new Set([...schemaMembers(definition.data)].map(([name]) => name));
          const entry = { collection, isId, keysOf, encode, memberNames, schema, versions };
          return [type, { ...definition, ...entry }];
        });
      }),
    );
    this.eventTypes = Object.keys(this.events);
    this.kinds = new Map(collections.flatMap(({ name: collection, kinds }) => {
      return Object.entries(kinds).map(([kind, it]) => [kind, { ...it, collection }]);
    }));
    this.linePattern = linePatternOf(this.eventSource);
  }
}

/**
 * Checks a definition, and makes the application of it. Throws a `TypeError` that names all faults: names that a line,
 * a key or PostgreSQL cannot hold, names that are used twice, and schemas that would change a value or lose one.
 */
export function defineApplication<const Collections extends readonly Collection<never>[]>(
  definition: ApplicationDefinition<Collections>,
): Application<EventBodyOf<Collections[number]>> {
  const { name } = definition;
  const collections = (definition.collections as unknown as readonly Collection[])
    .map(completeCollection);
  const faults = applicationFaults(name, collections);
  if (faults.length > 0) {
    throw new TypeError(`The application ${name} cannot be defined:\n${faults.join("\n")}`);
  }
  return new Application(name, collections);
}

export function schemaNameOf(eventSource: string, type: string): string {
  return `${eventSource}:${type.replace(/(?!^)[A-Z]/g, "-$&").toLowerCase()}`;
}

/** The release of the type, and then those that have added to it since. */
function versionsOf({ release, added = {} }: CompleteEvent): string[] {
  const later = Object.keys(added).filter((version) => compareVersions(version, release) > 0);
  return [release, ...later.sort(compareVersions)];
}

/** Whether one release is before (negative) or after (positive) another one. */
export function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
