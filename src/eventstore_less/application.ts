/**
 * An application as a value: its name, and what its collections say about all events and records. Everything of the
 * engine that depends on it takes it as an argument, so a process can have several.
 */

import { objectEncoder } from "./encoding/object_encoder.ts";
import type { Body, Collection, EventDefinition, KindDefinition } from "./definitions.ts";
import { linePatternOf } from "./log/line_text.ts";

/** What a caller gives to {@linkcode defineApplication}. */
export interface ApplicationDefinition<Collections extends readonly Collection<never>[]> {
  /** For people, for example User Registry. In URNs, SQL and metrics it has dashes or underscores. */
  name: string;
  collections: Collections;
}

/** An event type, the name of the collection that defines it, and what makes its text and its schema. */
export interface EventEntry extends EventDefinition {
  collection: string;
  encode: (data: object) => string;
  /** The name of the schema of its data, without the version: `urn:user-registry:user-created` for `UserCreated`. */
  schema: string;
  /** The versions of the schema, in order. Since format 6, a version is named after a release. */
  versions: readonly string[];
}

/** A kind of records, and the name of the collection that defines it. */
export type KindEntry = KindDefinition & { collection: string };

/** The events of a collection, or of an application. */
export type EventBodyOf<Of> = Of extends Collection<infer EventBody> ? EventBody
  : Of extends Application<infer EventBody> ? EventBody
  : never;

export class Application<EventBody extends Body = Body> {
  readonly name: string;
  /** In URNs and for PostgreSQL's list of clients: `user-registry` for User Registry. */
  readonly dashedName: string;
  /** In SQL and in metrics: `user_registry`. */
  readonly sqlName: string;
  /** The `source` of its events. */
  readonly eventSource: string;
  readonly collections: readonly Collection[];
  readonly events: Readonly<Record<string, EventEntry>>;
  readonly eventTypes: readonly EventBody["type"][];
  /** The kinds of its records, by the first element of their keys. */
  readonly kinds: ReadonlyMap<string, KindEntry>;
  /** Matches a line of its log. */
  readonly linePattern: RegExp;
  /** Only for the compiler: the union of its events. */
  declare readonly eventBody?: EventBody;

  constructor({ name, collections }: ApplicationDefinition<readonly Collection[]>) {
    this.name = name;
    this.dashedName = name.toLowerCase().replaceAll(" ", "-");
    this.sqlName = this.dashedName.replaceAll("-", "_");
    this.eventSource = `urn:${this.dashedName}`;
    this.collections = collections;
    this.events = Object.fromEntries(collections.flatMap(({ name: collection, events }) => {
      return Object.entries<EventDefinition>(events).map(([type, definition]) => {
        const schema = schemaNameOf(this.eventSource, type);
        const versions = versionsOf(definition);
        const encode = objectEncoder(definition.data);
        return [type, { ...definition, collection, encode, schema, versions }];
      });
    }));
    this.eventTypes = Object.keys(this.events);
    this.kinds = new Map(collections.flatMap(({ name: collection, kinds }) => {
      return Object.entries(kinds).map(([kind, it]) => [kind, { ...it, collection }]);
    }));
    this.linePattern = linePatternOf(this.eventSource);
  }
}

/** Throws `TypeError` if two collections share a name, a type of events or a kind of records. */
export function defineApplication<const Collections extends readonly Collection<never>[]>(
  definition: ApplicationDefinition<Collections>,
): Application<EventBodyOf<Collections[number]>> {
  const collections = definition.collections as unknown as readonly Collection[];
  expectUnique("collection", collections.map(({ name }) => name));
  expectUnique("type of events", collections.flatMap(({ events }) => Object.keys(events)));
  expectUnique("kind of records", collections.flatMap(({ kinds }) => Object.keys(kinds)));
  return new Application({ name: definition.name, collections });
}

function expectUnique(what: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) {
    throw new TypeError(`The application defines the ${what} ${twice} twice`);
  }
}

export function schemaNameOf(eventSource: string, type: string): string {
  return `${eventSource}:${type.replace(/(?!^)[A-Z]/g, "-$&").toLowerCase()}`;
}

/** The release of the type, and then those that have added to it since. */
function versionsOf({ release, added = {} }: EventDefinition): string[] {
  const later = Object.keys(added).filter((version) => compareVersions(version, release) > 0);
  return [release, ...later.sort(compareVersions)];
}

function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
