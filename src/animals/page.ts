/** A page of pets: what a client asks for, and what it gets. */

import type { Head } from "eventstore-less/definitions.ts";
import { petListOf, type StatusFilter } from "./pet_keys.ts";
import { countOf, lastPetIdOf, petCount } from "./pet_counts.ts";
import type { PetRecord } from "./pet_records.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import type { HeadEntry } from "eventstore-less/log/head.ts";

export interface PageQuery {
  /** Maximum number of pets, 1 to 100. */
  limit: number;
  status?: StatusFilter;
  categoryId?: bigint;
  /** A part of the name, without regard to case. */
  name?: string;
  /** Only pets with a smaller id than this one. */
  cursor?: number;
  /** Only these, 1 to 100; without any other condition. */
  ids?: readonly number[];
}

export interface Page {
  /** A JSON array of Pet, newest first. */
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

/** A page is large from so many UTF-16 code units on. */
export const LARGE_PAGE_LENGTH = 64 * 1024;

/**
 * A page of pets that match a query, newest first. If there is one pet more than its limit, another page follows.
 * Otherwise, `rest` is the cursor of the next page, if there is one.
 */
export function pageOf(
  pets: readonly PetRecord[],
  query: PageQuery,
  head: Head,
  rest?: number,
): Page {
  const { limit, cursor } = query;
  const shown = pets.slice(0, limit);
  const text = `[${shown.map((pet) => pet.text).join(",")}]`;
  const next = pets.length > limit ? shown.at(-1)!.id : rest;
  const isWhole = next === undefined && cursor === undefined;
  const total = isWhole && !isCountedByHead(query) ? pets.length : undefined;
  return { text, next, hash: sha256Hex(`${next ?? ""}${text}`), head, total };
}

/** The head that a page shows: the later one of its own and that of the request, for which a cached page is valid. */
export function headOf(page: Page, { head }: HeadEntry): Head {
  return page.head.position > head.position ? page.head : head;
}

/** How many pets match a query at the head that its page shows; `undefined` if only a scan could tell. */
export function totalOf(query: PageQuery, { total }: Page, head: Head): number | undefined {
  return isCountedByHead(query) ? countFor(query, head) : total;
}

function isCountedByHead({ categoryId, ids, name }: PageQuery): boolean {
  return categoryId === undefined && ids === undefined && name === undefined;
}

/** Number of pets of the status of a query, or of all, at a head. */
export function countFor({ status }: PageQuery, head: Head): number {
  return status === undefined ? petCount(head) : countOf(head, petListOf(status));
}

/** The id of the newest pet that a page may have at a head. */
export function newestOf({ cursor = Infinity }: PageQuery, head: Head): number {
  return Math.min(cursor - 1, lastPetIdOf(head));
}

/** Whether a page may have every pet. */
export function isOfAll({ status, categoryId, ids }: PageQuery): boolean {
  return status === undefined && categoryId === undefined && ids === undefined;
}

export function newestFirst(pets: readonly PetRecord[]): PetRecord[] {
  return pets.toSorted((one, other) => other.id - one.id);
}
