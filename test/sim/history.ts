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

export interface CreateOperation {
  kind: "create";
  part?: Part;
  /** Identifies the create attempt: all requests of the attempt have this name, and no others. */
  name: string;
  status?: string;
  categoryId: number;
  idempotencyKey?: string;
}

/** The parameters of a request that changes, removes or restores a pet. */
export interface Target {
  petId: number;
  ifMatch?: string;
  /** The text of the pet that the ETag of `ifMatch` belongs to; absent if that is any pet. */
  expected?: string;
  idempotencyKey?: string;
  part?: Part;
}

export interface UpdateOperation extends Target {
  kind: "update";
  /** A `categoryId` from {@linkcode FIRST_TAG} on is only in the requests of one update attempt. */
  patch: { name?: string; categoryId?: number; status?: string | null };
}

export interface RemoveOperation extends Target {
  kind: "remove";
}

export interface RestoreOperation extends Target {
  kind: "restore";
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

export interface GetOperation {
  kind: "get";
  petId: number;
}

/** A request that names a category or removes it. */
export interface CategoryWrite {
  kind: "nameCategory" | "removeCategory";
  categoryId: number;
  /** Absent for a removal. */
  name?: string;
  ifMatch?: string;
  /** The text of the category that the ETag of `ifMatch` belongs to; absent if that is any category. */
  expected?: string;
  /** The category must have no name. */
  ifNoneMatch?: "*";
  idempotencyKey?: string;
}

export interface CategoryRead {
  kind: "listCategories" | "getCategory";
  /** Absent for the list. */
  categoryId?: number;
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
  | RestoreOperation;

export type CategoryOperation = CategoryWrite | CategoryRead;

export type Operation =
  & (WriteOperation | ListOperation | GetOperation | CategoryOperation | EventsOperation)
  & { cached?: CachedResponse };

/** Whether a request is a write of a pet. */
export function isPetWrite(operation: Operation): operation is WriteOperation {
  return ["create", "update", "remove", "restore"].includes(operation.kind);
}

export function isCategoryWrite(operation: Operation): operation is CategoryWrite {
  return ["nameCategory", "removeCategory"].includes(operation.kind);
}

export function isOfCategory(operation: Operation): operation is CategoryOperation {
  return isCategoryWrite(operation) ||
    ["listCategories", "getCategory"].includes(operation.kind);
}

export function isWrite(operation: Operation): operation is WriteOperation | CategoryWrite {
  return isPetWrite(operation) || isCategoryWrite(operation);
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
