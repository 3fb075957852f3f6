import type {
  Collection,
  EventDefinition,
  KindDefinition,
  ProjectionKey,
  Release,
} from "./definitions.ts";
import { SUBJECT_ID } from "./log/subject_id.ts";

/** A type of events, with all defaults filled in. */
export type CompleteEvent =
  & EventDefinition
  & Required<Pick<EventDefinition, "release" | "id" | "isFirst">>;

/** A kind of records, with all defaults filled in. */
export type CompleteKind = KindDefinition & Required<Pick<KindDefinition, "owner" | "isNumbered">>;

/** A collection with the defaults of what it leaves out. */
export type CompleteCollection =
  & Collection
  & Required<Pick<Collection, "isId" | "exampleId" | "personal" | "keysOf">>
  & { events: Record<string, CompleteEvent>; kinds: Record<string, CompleteKind> };

const FIRST_RELEASE: Release = "1.0";

const FIRST_NUMBER = /^[1-9]\d*$/;

/** Fills in the defaults. They are documented where the members are. */
export function completeCollection(collection: Collection): CompleteCollection {
  return {
    isId: (text) => SUBJECT_ID.test(text),
    exampleId: "1",
    personal: [],
    keysOf: (id) => keysOfSubject(collection, id),
    ...collection,
    events: mapValues<EventDefinition, CompleteEvent>(collection.events, (definition) => {
      return { release: FIRST_RELEASE, id: idIn, isFirst: false, ...definition };
    }),
    kinds: mapValues<KindDefinition, CompleteKind>(collection.kinds, (definition) => {
      return { owner: (key) => key.join(" "), isNumbered: false, ...definition };
    }),
  };
}

function mapValues<From, To>(values: Record<string, From>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

/** The default of `id()`: the text of the member `id`. */
export function idIn(data: object): string {
  return String((data as { id: unknown }).id);
}

/** The key with the id alone, of the first kind that has such keys; none if the id cannot be in such a key. */
function keysOfSubject({ kinds }: Collection, id: string): ProjectionKey[] {
  const found = Object.entries(kinds).find(([, { key }]) => key.length === 1);
  if (found === undefined) return [];
  const [kind, { key: [element] }] = found;
  if (element === "text") return [[kind, id]];
  return element === "number" && FIRST_NUMBER.test(id) ? [[kind, Number(id)]] : [];
}
