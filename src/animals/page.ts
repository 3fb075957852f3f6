/** A page of pets: what a client asks for, and what it gets. */

import type { Head } from "eventstore-less";
import { type HeadEntry, sha256Hex } from "eventstore-less/parts";
import { petListOf, type StatusFilter } from "./pet_keys.ts";
import { countOf, petCount, removedCount } from "./pet_counts.ts";
import type { PetRecord } from "./pet_records.ts";

export interface PageQuery {
  /** Maximum number of pets, 1 to 100. */
  limit: number;
  status?: StatusFilter;
  categoryId?: bigint;
  /** Words of the name, as `word_search.ts` compares them. */
  name?: string;
  /** Words of the name, the note and the name of the category; without `name`. */
  q?: string;
  /** `asc` is oldest first; by default, newest first. */
  order?: "asc" | "desc";
  /** Whether the page has the removed pets instead of those that are there, last removed first; without any other filter. */
  removed?: true;
  /**
   * Only pets with a smaller id than this one; with `order` `asc`, with a larger one. For removed pets, only removals before
   * this position.
   */
  cursor?: number;
  /** Only these, 1 to 100; without any other condition. */
  ids?: readonly number[];
}

/** The conditions of a page, whatever its length. */
export type PageCondition = Partial<PageQuery>;

/** The query of a summary of all pets that it finds. */
export type SummaryQuery = Pick<PageQuery, "categoryId" | "cursor" | "name" | "q">;

/** The part of a query that is a search. */
export type Searching = { name: string } | { q: string };

export function isSearch<Query extends PageCondition>(query: Query): query is Query & Searching {
  return query.name !== undefined || query.q !== undefined;
}

export interface Page {
  /** A JSON array of Pet; of removed pets, each with `removedAt` and `etag`. Or a summary. */
  text: string;
  /** The cursor of the page after this one; absent on the last. */
  next?: number;
  /** SHA-256 (hex) of the text and the cursor. */
  hash: string;
  /** The page is as of this head, and as of later ones for which it is cached. */
  head: Head;
  /** Number of pets that match the query, if only the page shows it. */
  total?: number;
  /** The text in gzip, once a client has asked for it. */
  cachedGzip?: Promise<Uint8Array>;
  /** The headers of the last response with this page. Responses as of the same head share them. */
  cachedHeaders?: { head: Head; baseUrl: string; headers: Record<string, string> };
}

/** A page of a list or a search ends with the pet that makes its text this long, in UTF-16 code units. */
export const PAGE_LENGTH = 128 * 1024;

/** The page that shows pets of a query. `next` is the cursor of the page after it. */
export function pageOf(
  pets: readonly PetRecord[],
  query: PageQuery,
  head: Head,
  next?: number,
): Page {
  const text = `[${pets.map((pet) => pet.text).join(",")}]`;
  const isWhole = next === undefined && query.cursor === undefined;
  const total = isWhole && !isCountedByHead(query) ? pets.length : undefined;
  return { ...pageOfText(text, head, next), total };
}

export function pageOfText(text: string, head: Head, next?: number): Page {
  return { text, next, hash: sha256Hex(`${next ?? ""}${text}`), head };
}

/** The head that a page shows: its own head or that of the request, whichever is later. A cached page is valid for both. */
export function headOf(page: Page, { head }: HeadEntry): Head {
  return page.head.position > head.position ? page.head : head;
}

/** How many pets match a query at the head that its page shows; `undefined` if only a scan could tell. */
export function totalOf(query: PageQuery, { total }: Page, head: Head): number | undefined {
  return isCountedByHead(query) ? countFor(query, head) : total;
}

function isCountedByHead(query: PageQuery): boolean {
  return query.categoryId === undefined && query.ids === undefined && !isSearch(query);
}

/** Number of pets of the status of a query, of all, or of the removed ones, at a head. */
export function countFor({ removed, status }: PageQuery, head: Head): number {
  if (removed) return removedCount(head);
  return status === undefined ? petCount(head) : countOf(head, petListOf(status));
}

/** The range of ids in which a page can be if `last` is the id of the newest pet. */
export function idsOf(
  { cursor, order }: PageCondition,
  last: number,
): { oldest: number; newest: number } {
  if (order === "asc") return { oldest: (cursor ?? 0) + 1, newest: last };
  return { oldest: 1, newest: Math.min((cursor ?? Infinity) - 1, last) };
}

/** Whether a page may have every pet. */
export function isOfAll({ status, categoryId, ids }: PageQuery): boolean {
  return status === undefined && categoryId === undefined && ids === undefined;
}

/** Pets of a query, in its order, which were read together with that head. */
export interface PetsOfHead {
  pets: PetRecord[];
  head: Head;
  /** The cursor after which there may be more pets; absent if there are none. */
  next?: number;
}

/**
 * The first pets of those that were read: at most `limit`, and fewer if their texts are long. The next page begins
 * after the last of them, or at `rest` if there are no others.
 */
export function endedAt(
  limit: number,
  pets: readonly PetRecord[],
  head: Head,
  rest?: number,
): PetsOfHead {
  const shown: PetRecord[] = [];
  let length = 0;
  for (const pet of pets) {
    if (shown.length === limit || length >= PAGE_LENGTH) break;
    shown.push(pet);
    length += pet.text.length;
  }
  return { pets: shown, head, next: shown.length < pets.length ? shown.at(-1)!.id : rest };
}

/** Pets in the order of a query. */
export function inOrder(pets: readonly PetRecord[], { order }: PageQuery): PetRecord[] {
  const sign = order === "asc" ? 1 : -1;
  return pets.toSorted((one, other) => sign * (one.id - other.id));
}
