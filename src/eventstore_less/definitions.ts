/**
 * The definitions that an application gives to the engine: a {@linkcode Collection} for each kind of subjects. The types
 * of events are the union `EventBody` where a caller gives it, and else any {@linkcode Body}.
 */

import type { z } from "zod";

/** The type and the data of an event, before the log gives it a position. */
export interface Body {
  /** The name of the type, in the past tense and in capitalised words: `InvoiceIssued`. */
  type: string;
  /** What has happened, as the schema of the type says. */
  data: object;
}

/** The other members of an event that are known before its position in the log. */
export interface EventMetadata {
  /** ULID. It stays the same if the commit is sent again. */
  id: string;
  /** Time of the event, UTC with milliseconds. */
  time: string;
  /** Who caused it, for example the id of a user: 1 to 100 characters, without control characters. */
  actor: string;
  /** Position of the last event of the same subject; absent on its first event, and in lines before format 6. */
  predecessor?: number;
  /** HMAC-SHA-256 (hex) of the `Idempotency-Key` under the API key; before format 4, its SHA-256. */
  idempotencyKey?: string;
}

/** An event in the log. `position` is 1, 2, 3 …; `previousHash` is the SHA-256 (hex) of the line before. */
export type Recorded<EventBody extends Body = Body> =
  & EventBody
  & EventMetadata
  & { position: number; previousHash: string };

export type RecordedEvent<EventBody extends Body = Body> = Recorded<EventBody>;

/** The type and data of an event that a command has decided, and what is known before its position in the log. */
export type DecidedEvent<EventBody extends Body = Body> = EventBody & EventMetadata;

/** An event and its line in UTF-8, without the line break. */
export interface RecordedLine<EventBody extends Body = Body> {
  /** The event. */
  event: Recorded<EventBody>;
  /** Its line in the log. */
  line: Uint8Array;
}

/** The head of the log: the record that every append checks and replaces. */
export interface Head {
  /** Position of the last event; 0 in an empty log. */
  position: number;
  /** SHA-256 (hex) of the last line. */
  lastHash: string;
  /** The events of each type, without the types that have none. */
  types: Partial<Record<string, TypeSummary>>;
  /** The counts of each collection to which its events add by `tally()`, without empty ones. */
  counts: Partial<Record<string, Counts>>;
  /** Generation of the projections that requests read. */
  generation: number;
}

/** The counts of a collection by their names, without those that are 0. */
export type Counts = Record<string, number>;

/** The events of one type. */
export interface TypeSummary {
  /** The highest version of the schema. */
  version: string;
  /** Number of the events. */
  count: number;
  /** Position of the last one. */
  last: number;
}

/** A collection of subjects, for example all users: its events, their records, and the rules of its histories. */
export interface Collection<CollectionBody extends Body = Body> {
  /** The subjects of the events are `name/id`. */
  name: string;
  /** Whether a text that `SUBJECT_ID` accepts is the id of a subject; by default each one is. */
  isId?(text: string): boolean;
  /** An id for messages; by default 1. */
  exampleId?: string;
  /** The types of events, by their names. */
  events: EventDefinitions<CollectionBody>;
  /** The members of the data, also of objects in it, whose texts can hold personal data. An operator can erase them. */
  personal?: readonly string[];
  /** The kinds of its records, by the first element of their keys. */
  kinds: Record<string, KindDefinition>;
  /**
   * The keys of the records that hold the state of a subject and name its last event; by default, the one of the first
   * kind whose keys have one element, the id. None if commands read the state in `prepare()`: their events then say their
   * predecessor. An event that ends a subject must leave one of these records, so that the id stays taken.
   */
  keysOf?(id: string): readonly ProjectionKey[];
  /** Whether earlier versions of format 6 wrote the counts of this collection, and no others, into the head without a name. */
  hadUnnamedCounts?: boolean;
  /** The rules by which an audit and a restore check a log from its beginning; by default there are none. */
  newHistory?(): History;
  /** The fault of a head, judged by the last event of each type; `undefined` if it has none. */
  faultOfHead?(head: Head, lastEvents: ReadonlyMap<string, Recorded>): string | undefined;
  /** The numbers in the report of an audit, by names in the plural: `{ users: 3 }`. `counts` are those of the collection. */
  summaryOf?(counts: Counts): Record<string, number>;
}

/** The definitions of the types of events of a collection, by their names. */
export type EventDefinitions<CollectionBody extends Body> = {
  [Type in CollectionBody["type"]]: EventDefinition<
    Extract<CollectionBody, { type: Type }>["data"]
  >;
};

/** The name of a release of the application, without its last number: 6.1. */
export type Release = `${number}.${number}`;

/** A type of events: the one place that says all about it. */
export interface EventDefinition<Data extends object = object> {
  /**
   * The schema of the data, a `z.strictObject()`. The text of the data has the members in the order of the schema, and a
   * line with another text is malformed. Integers are `bigint`, as `parseExactJson()` gives them, or `safeInteger()`.
   */
  data: z.ZodObject;
  /** The release that added the type: the first version of its schema; by default 1.0. */
  release?: Release | "1";
  /**
   * The later versions of the schema: the releases that have added to the data. Each function says whether the data has
   * what the release added.
   */
  added?: Readonly<Record<string, Addition<Data>["isIn"]>>;
  /**
   * The id of the subject; by default, the member `id` of the data as a text. A number must count the subjects from 1 on,
   * so it is at most the position of the event: an audit then needs less memory for it than for a text.
   */
  id?(data: Data): number | string;
  /** Whether an event of this type is always the first one of its subject, so that its records replace none. */
  isFirst?: boolean;
  /**
   * The records that an event removes, and then those that it writes, at most one of each kind. They depend on nothing
   * but the event, so its data must have all that its subject's records say. Two subjects never share a record.
   */
  project(recorded: RecordedData<Data>): ProjectionRecord[];
  /** The changes that an event makes to the counts of its collection in the head. */
  tally?(data: Data): readonly (readonly [name: string, change: 1 | -1])[];
  /**
   * The values by which a follower can select an event, by the name of the filter. The feed does not show a type
   * without this function.
   */
  shown?(data: Data): Record<string, readonly unknown[]>;
}

/** An addition of a release to the data of a type: whether some data has it. */
export interface Addition<Data extends object> {
  /** Whether the data has what the release added. */
  isIn(data: Data): boolean;
}

/** An event with that data, and its line. */
export interface RecordedData<Data extends object> {
  /** The event. */
  event: Recorded<{ type: string; data: Data }>;
  /** Its line in the log. {@linkcode dataOf} and {@linkcode recordOf} make the content of a record of it. */
  line: Uint8Array;
}

/** The events of a collection by the schemas of their data. */
export type BodyOf<Schemas extends Record<string, z.ZodObject>> = {
  [Type in keyof Schemas & string]: { type: Type; data: z.output<Schemas[Type]> };
}[keyof Schemas & string];

/** A collection whose types of events follow from the schemas of their data. */
export type CollectionOf<Schemas extends Record<string, z.ZodObject>> =
  & Omit<Collection<BodyOf<Schemas>>, "events">
  & {
    events: {
      [Type in keyof Schemas]:
        & { data: Schemas[Type] }
        & Omit<EventDefinition<z.output<Schemas[Type]>>, "data">;
    };
  };

/** The collection that it is given. The types of its events follow from the schemas, so nobody writes them. */
export function defineCollection<Schemas extends Record<string, z.ZodObject>>(
  collection: CollectionOf<Schemas>,
): Collection<BodyOf<Schemas>> {
  return collection as unknown as Collection<BodyOf<Schemas>>;
}

/** The key of a projection record, without its generation: the kind, and elements that tell its records apart. */
export type ProjectionKey = readonly (string | number)[];

/** A record of a projection, made by `project()`. */
export interface ProjectionRecord {
  /** The kind of the record, and the elements of its key. */
  key: ProjectionKey;
  /**
   * The value without its checksum. It may share a buffer, so do not keep it for long. Absent if the record is to be
   * removed.
   */
  content?: Uint8Array;
  /** The time from which the record is no longer valid, in milliseconds since the Unix epoch. */
  expiresAt?: number;
}

/** An element of a key: a text, one of some texts, or a number from 1 on. */
export type KeyElement = "text" | readonly string[] | "number";

/** A kind of records. */
export interface KindDefinition {
  /** The elements of a key after the kind. */
  key: readonly KeyElement[];
  /**
   * Whether the last element is a number that no two records of this kind share: an audit then needs less memory for
   * them.
   */
  isNumbered?: boolean;
  /** The subject of the record, as words that follow "The record of": user 7. By default, the elements of the key. */
  owner?(key: ProjectionKey): string;
  /** The record in words, for an operator; by default its key. */
  describe?(key: ProjectionKey): string;
}

/** The rules of a history. Each one gets all events of the log, in order. */
export interface History {
  /** The faults of an event, as words that follow "Line 7: ". `subject` is the state of its subject before the event. */
  check(recorded: RecordedLine, subject: SubjectState): string[];
  /** Call it if lines are missing or cannot be read: subjects may have events that the history has not seen. */
  lose(): void;
  /**
   * Sentences for an operator who restores only the lines so far. `longer` is the history of all lines,
   * and `now` is in milliseconds since the Unix epoch.
   */
  consequencesOfCut?(longer: this, now: number): string[];
}

/** A subject before an event, as far as it is known. */
export interface SubjectState {
  /** Position of its last event; 0 if none is known. */
  position: number;
  /** Whether the events before this one make that record. */
  hasRecord(key: ProjectionKey, content: Uint8Array): boolean;
}
