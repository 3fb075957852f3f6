/** Reads of records by their keys, and lists of the records of a kind: what they accept, and what they give. */

import type { Application } from "./application.ts";
import type { ProjectionKey } from "./definitions.ts";
import { int64Of } from "./encoding/int64.ts";
import { isKeyElement } from "./keyspace.ts";
import type { ProjectionRange } from "./log/head_reader.ts";
import { contentOf } from "./projections/project.ts";
import { jsonIn } from "./projections/record_content.ts";
import type { StoreEntry } from "./store/store.ts";

/** Default of `limit`. */
const LIST_DEFAULT = 100;
/** Maximum of `limit`. */
const LIST_LIMIT = 250;

/** Which records of a kind a list has. */
export interface RecordListOptions {
  /** Elements with which the keys begin after the kind; by default none. */
  prefix?: readonly (string | number)[];
  /** Maximum number of records, at most 250; by default 100. */
  limit?: number;
  /** Whether the last key comes first. */
  reverse?: boolean;
  /** The key after which the list begins, in its direction: `next` of the list before. */
  after?: ProjectionKey;
}

/** Records in the order of their keys. */
export interface RecordList {
  /** Each begins with the kind. */
  keys: ProjectionKey[];
  /** Their contents, decoded from JSON. */
  values: unknown[];
  /** The key after which the next list begins; absent if this one is the last. */
  next?: ProjectionKey;
}

/** A list that was asked for: the keys from one to another (exclusive), and how many. */
export interface ListRequest {
  /** The kind, and the elements with which all keys begin. */
  prefix: ProjectionKey;
  range: ProjectionRange;
  limit: number;
  reverse: boolean;
}

/** Throws `RangeError` if no record of the application can have a key. */
export function expectRecordKey({ kinds }: Application, key: ProjectionKey): void {
  const [kind, ...elements] = key;
  const expected = kinds.get(kind as string)?.key;
  if (expected === undefined) throw unknownKindError(kind);
  const isComplete = elements.length === expected.length;
  const isRight = isComplete && elements.every((it, index) => isKeyElement(expected[index], it));
  if (!isRight) throw new RangeError(`${JSON.stringify(key)} is not a key of the kind ${kind}`);
}

/** Throws `RangeError` for an unknown kind, and for a limit, a prefix or a key that the kind does not have. */
export function listRequestOf(
  application: Application,
  kind: string,
  { prefix: elements = [], limit = LIST_DEFAULT, reverse = false, after }: RecordListOptions,
): ListRequest {
  const expected = application.kinds.get(kind)?.key;
  if (expected === undefined) throw unknownKindError(kind);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_LIMIT) {
    throw new RangeError(`limit must be an integer from 1 to ${LIST_LIMIT}, and is ${limit}`);
  }
  const isPrefix = elements.length < expected.length &&
    elements.every((it, index) => isKeyElement(expected[index], it));
  if (!isPrefix) {
    const form = `does not begin a longer key of the kind ${kind}`;
    throw new RangeError(`The prefix ${JSON.stringify(elements)} ${form}`);
  }
  const prefix = [kind, ...elements];
  // Numbers sort last, so no key with the prefix comes after these.
  const all = { start: prefix, end: [...prefix, Infinity] };
  if (after === undefined) return { prefix, range: all, limit, reverse };
  expectRecordKey(application, after);
  if (!prefix.every((part, index) => after[index] === part)) {
    throw new RangeError(`${JSON.stringify(after)} does not begin with ${JSON.stringify(prefix)}`);
  }
  // The next possible key has one more part, the smallest one. No key of a kind begins with another one.
  const range = reverse ? { ...all, end: after } : { ...all, start: [...after, ""] };
  return { prefix, range, limit, reverse };
}

/** The options by which the store lists what was asked for, and one more record, which shows whether there is a next list. */
export function storeOptionsOf({ limit, reverse }: ListRequest) {
  return { limit: limit + 1, reverse };
}

/** Throws `projection_damaged`. */
export function recordListOf(
  application: Application,
  { limit }: ListRequest,
  entries: readonly StoreEntry[],
): RecordList {
  const listed = entries.slice(0, limit);
  const keys = listed.map(({ key }) => key.slice(2) as ProjectionKey);
  const values = listed.map((entry) => valueOf(application, entry));
  return entries.length > limit ? { keys, values, next: keys.at(-1) } : { keys, values };
}

const decoder = new TextDecoder();

/** Any other integer is one that a number holds exactly. */
const MAY_ROUND = /\d{16}/;

/** The content of a record, decoded from JSON. An integer that a number cannot hold is a `bigint`. Throws `projection_damaged`. */
export function valueOf(application: Application, entry: StoreEntry | null): unknown {
  if (entry === null) return undefined;
  const text = decoder.decode(jsonIn(contentOf(application, entry)));
  if (!MAY_ROUND.test(text)) return JSON.parse(text);
  // TypeScript does not know the third argument yet (https://github.com/tc39/proposal-json-parse-with-source).
  return JSON.parse(text, (_key, value, context?: { source: string }) => {
    const mayRound = typeof value === "number" && !Number.isSafeInteger(value);
    return mayRound ? int64Of(context!.source) ?? value : value;
  });
}

function unknownKindError(kind: unknown): RangeError {
  return new RangeError(`The application has no kind of records ${JSON.stringify(kind)}`);
}
