/** What is wrong with the definition of an application, as far as its events do not matter. */

import type { z } from "zod";
import {
  type CompleteCollection,
  type CompleteEvent,
  type CompleteKind,
  idIn,
} from "./complete_collection.ts";
import type { KeyElement, ProjectionKey } from "./definitions.ts";
import { memberNames } from "./encoding/member_names.ts";
import { valuePreservingFaults } from "./encoding/value_preserving.ts";
import { IDEMPOTENCY_KIND, isProjectionKey } from "./keyspace.ts";
import { SUBJECT_ID, SUBJECT_ID_FORM } from "./log/subject_id.ts";
import { isReservedName } from "./store/postgres/reserved_name.ts";

/** A name in URNs and in SQL, where its blanks are dashes or underscores. RFC 8141 has the length. */
const APPLICATION_NAME = /^(?=.{2,32}$)[A-Za-z][A-Za-z0-9]*(?:[ -][A-Za-z0-9]+)*$/;
const APPLICATION_NAME_FORM = "2 to 32 letters of ASCII and digits, of which the first is a " +
  "letter, with single blanks or dashes between words";

/** A name in subjects, keys and the head. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const NAME_FORM = "a letter of ASCII and at most 62 letters, digits, dashes and underscores, and " +
  "not the name of a member of every object, such as constructor";

/** A name in lines, and with dashes in URNs. */
const TYPE = /^[A-Z][A-Za-z0-9]{0,62}$/;
const TYPE_FORM = "a capital letter of ASCII and at most 62 letters and digits, such as " +
  "InvoiceIssued";

const RELEASE = /^[1-9]\d*(?:\.(?:0|[1-9]\d*))?$/;
const RELEASE_FORM = "two numbers with a point, such as 1.0, the first one from 1 on";

/** A sentence for each fault, which begins with what it is about. */
export function applicationFaults(
  name: string,
  collections: readonly CompleteCollection[],
): string[] {
  const schemas = collections.flatMap((collection) => [...faultsOfSchemas(collection)]);
  return [
    ...faultsOfName(name),
    ...faultsOfRepetition("collection", collections.map((it) => it.name)),
    ...faultsOfRepetition("type", collections.flatMap(({ events }) => Object.keys(events))),
    ...faultsOfRepetition("kind", collections.flatMap(({ kinds }) => Object.keys(kinds))),
    ...collections.flatMap((collection) => [...faultsOfCollection(collection)]),
    ...schemas,
    // A schema that contains itself has members without end.
    ...(schemas.length > 0 ? [] : collections.flatMap((it) => [...faultsOfPersonal(it)])),
  ];
}

function* faultsOfName(name: string): Generator<string> {
  if (typeof name !== "string" || !APPLICATION_NAME.test(name)) {
    yield `The name ${shown(name)} is not of ${APPLICATION_NAME_FORM}`;
    return;
  }
  const schema = name.toLowerCase().replaceAll(/[ -]/g, "_");
  if (isReservedName(schema)) {
    yield `The name ${shown(name)} would be the schema ${schema} in PostgreSQL, which is a word ` +
      "of SQL: add a word";
  }
}

function* faultsOfRepetition(what: string, names: readonly string[]): Generator<string> {
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) < index));
  for (const name of repeated) yield `The ${what} ${shown(name)} is defined twice`;
}

function* faultsOfCollection(collection: CompleteCollection): Generator<string> {
  const { name, events, kinds } = collection;
  if (!isName(name)) yield `The collection ${shown(name)} has a name that is not ${NAME_FORM}`;
  for (const [type, definition] of Object.entries(events)) {
    if (!TYPE.test(type)) yield `The type ${shown(type)} has a name that is not ${TYPE_FORM}`;
    for (const fault of faultsOfEvent(definition)) yield `The type ${shown(type)} ${fault}`;
  }
  for (const [kind, definition] of Object.entries(kinds)) {
    for (const fault of faultsOfKind(kind, definition)) yield `The kind ${shown(kind)} ${fault}`;
  }
  for (const fault of faultsOfExample(collection)) yield `The collection ${shown(name)} ${fault}`;
}

function* faultsOfEvent({ release, added = {}, ...definition }: CompleteEvent): Generator<string> {
  if (!RELEASE.test(release)) {
    yield `has the release ${shown(release)}, which is not ${RELEASE_FORM}`;
  }
  for (const [later, isIn] of Object.entries(added)) {
    if (!RELEASE.test(later)) {
      yield `has additions of ${shown(later)}, which is not ${RELEASE_FORM}`;
    }
    if (typeof isIn !== "function") yield `has no function for the additions of ${shown(later)}`;
  }
  const functions = ["project", "id"] as const;
  const missing = functions.find((name) => typeof definition[name] !== "function");
  if (missing !== undefined) yield `has no function ${missing}()`;
}

function* faultsOfKind(kind: string, { key, isNumbered }: CompleteKind): Generator<string> {
  if (!isName(kind)) yield `has a name that is not ${NAME_FORM}`;
  if (kind === IDEMPOTENCY_KIND) yield "is one of the engine: use another name";
  const unknown = key.find((element) => !isElement(element));
  if (unknown !== undefined) {
    yield `has ${shown(unknown)} in its key, which is not "text", "number" or a list of texts`;
  }
  if (isNumbered && key.at(-1) !== "number") yield "is numbered, but its key ends with no number";
}

/** The faults of what the functions say of the example. They run for the first time, so they can throw. */
function* faultsOfExample(collection: CompleteCollection): Generator<string> {
  const { exampleId, kinds } = collection;
  try {
    if (!SUBJECT_ID.test(exampleId)) {
      yield `has the exampleId ${shown(exampleId)}, which is not of ${SUBJECT_ID_FORM}`;
    } else if (!collection.isId(exampleId)) {
      yield `has the exampleId ${shown(exampleId)}, but isId() refuses it: give it another one`;
    }
    const unfit = collection.keysOf(exampleId).find((key) => !isKeyOf(kinds, key));
    if (unfit !== undefined) {
      yield `has the key ${shown(unfit)} by keysOf(${
        shown(exampleId)
      }), which is not one of its kinds`;
    }
  } catch (error) {
    yield `has a function that fails for its exampleId ${shown(exampleId)}: ${error}`;
  }
}

function isKeyOf(kinds: CompleteCollection["kinds"], key: ProjectionKey): boolean {
  return isProjectionKey({ kinds: new Map(Object.entries(kinds)) }, key);
}

function* faultsOfSchemas({ events }: CompleteCollection): Generator<string> {
  for (const [type, { data, id }] of Object.entries(events)) {
    if (!isSchemaOfObject(data)) {
      yield `The type ${shown(type)} has data that is not a z.strictObject() of Zod 4`;
      continue;
    }
    for (const fault of valuePreservingFaults(data, "data")) {
      yield `The type ${shown(type)} has a schema that cannot be stored: ${fault}`;
    }
    const isIdMissing = id === idIn && !Object.hasOwn(data._zod.def.shape, "id");
    if (isIdMissing) yield `The type ${shown(type)} has neither id() nor a member id in its data`;
  }
}

function isSchemaOfObject(schema: unknown): schema is z.core.$ZodObject {
  return (schema as z.core.$ZodType | undefined)?._zod?.def.type === "object";
}

function* faultsOfPersonal({ name, personal, events }: CompleteCollection): Generator<string> {
  const known = Object.values(events).flatMap(({ data }) => [...memberNames(data)]);
  for (const member of personal) {
    if (known.includes(member)) continue;
    yield `The collection ${shown(name)} has ${shown(member)} as personal, but no data has it`;
  }
}

function isName(name: unknown): boolean {
  return typeof name === "string" && NAME.test(name) && !(name in Object.prototype);
}

function isElement(element: KeyElement): boolean {
  if (typeof element === "string") return element === "text" || element === "number";
  return Array.isArray(element) && element.length > 0 &&
    element.every((text) => typeof text === "string");
}

function shown(value: unknown): string {
  return typeof value === "string" && NAME.test(value) ? value : String(JSON.stringify(value));
}
