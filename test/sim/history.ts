/** The requests of clients and what they got: the input of the checker. */

import type { Node } from "./node.ts";

/** An API key that clients use, perhaps also after its revocation. */
export interface KeyInUse {
  keyId: string;
  token: string;
  /** Whether operators never revoke the key, so that a valid key always exists. */
  isKept: boolean;
  /** Whether the service must not add or change pets with it. */
  isReadOnly: boolean;
}

/** The place of a write in a batch, whose operations have this hash. */
export interface Part {
  batch: string;
  index: number;
  /** The number of writes in the batch. */
  count: number;
}

/** What every write has. */
interface Write {
  idempotencyKey?: string;
  part?: Part;
}

export interface CreateOperation extends Write {
  kind: "create";
  /** Identifies the create attempt: all requests of the attempt have this name, and no others. */
  name: string;
  status?: string;
  categoryId: number;
}

/** The pet or category that a request writes, and what the client expects of it. */
export interface Target extends Write {
  id: number;
  ifMatch?: string;
  /** The text that the ETag of `ifMatch` belongs to; absent if that is any text. */
  expected?: string;
  /** There must be none. */
  ifNoneMatch?: "*";
}

export interface UpdateOperation extends Target {
  kind: "update";
  /** A `categoryId` from {@linkcode FIRST_TAG} on is only in the requests of one update attempt. */
  patch: { name?: string; categoryId?: number; status?: string | null };
}

export interface RemoveOperation extends Target {
  kind: "remove" | "removeCategory";
}

export interface RestoreOperation extends Target {
  kind: "restore";
}

/** A request that names a category. */
export interface NameOperation extends Target {
  kind: "nameCategory";
  name: string;
}

/** Larger than the categories of all pets that are added. */
export const FIRST_TAG = 1_000;

/** An earlier response that the client revalidates. */
export interface CachedResponse {
  etag: string;
  body: string;
  link: string | null;
}

export interface ListOperation {
  kind: "list";
  limit?: number;
  status?: string;
  categoryId?: number;
  order?: "asc" | "desc";
  cursor?: number;
  ids?: number[];
  /** The list is of removed pets: `cursor` is a position. */
  removed?: true;
  /** A part of the name: the list is a search. */
  name?: string;
}

/** A request for a pet or a category. */
export interface GetOperation {
  kind: "get" | "getCategory";
  id: number;
}

export interface CategoryListOperation {
  kind: "listCategories";
}

/** A request of the feed: for a batch, which may wait, or for a stream. */
export interface EventsOperation {
  kind: "events";
  isStream?: boolean;
  lastEventId?: string;
  /** A stream resumes by a header, as the clients of event streams do. */
  resumes?: string;
  limit?: number;
  timeout?: number;
  type?: string;
  status?: string;
}

export type WriteOperation =
  | CreateOperation
  | UpdateOperation
  | RemoveOperation
  | RestoreOperation
  | NameOperation;

export type ReadOperation = ListOperation | GetOperation | CategoryListOperation;

export type Operation =
  & (WriteOperation | ReadOperation | EventsOperation)
  & { cached?: CachedResponse };

/** Several writes of pets in one request. Their exchanges are those of single writes. */
export interface Batch {
  kind: "batch";
  writes: WriteOperation[];
  idempotencyKey?: string;
}

const WRITES = ["create", "update", "remove", "restore", "nameCategory", "removeCategory"];

export function isWrite(operation: Operation | Batch): operation is WriteOperation {
  return WRITES.includes(operation.kind);
}

/** What clients write and read by an id. */
export type Subject = "pet" | "category";

/** What a request is for. */
export function subjectOf({ kind }: Operation): Subject {
  return /categor/i.test(kind) ? "category" : "pet";
}

export interface ReceivedResponse {
  status: number;
  headers: Headers;
  body: string;
}

/** One request and its response. Steps order events; times are true times, in milliseconds. */
export interface Exchange {
  operation: Operation;
  key: KeyInUse;
  node: Node;
  startStep: number;
  startAt: number;
  endStep: number;
  endAt: number;
  /** Absent if the node died first. */
  response?: ReceivedResponse;
  /** Whether the store had no faults throughout the request, so that 503 is not allowed. */
  isFaultFree: boolean;
}

/** Error codes that promise that nothing was stored. */
export const NOTHING_STORED = [
  "store_unavailable",
  "overloaded",
  "shutting_down",
  "internal_error",
];

/** The cursor that a `Link: <…>; rel="next"` names. */
export function nextCursor(link: string | null): number | undefined {
  const target = /<([^>]*)>; rel="next"/.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  return Number(new URL(target).searchParams.get("cursor"));
}
