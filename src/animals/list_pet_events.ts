/** The operation `listPetEvents`: what happened to one animal, as CloudEvents, newest first. */

import { encodePublicEvent } from "eventstore-less/log/event.ts";
import type { BackgroundWork } from "eventstore-less/feed/background_work.ts";
import { FEED_ID_PATTERN } from "eventstore-less/feed/event_feed.ts";
import type { HeadEntry } from "eventstore-less/log/head.ts";
import type { Store } from "eventstore-less/store/store.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { compressed } from "../api/compression.ts";
import { entityTag } from "../api/conditional_read.ts";
import { EVENT_BATCH_HEADERS, type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import { parameterError, type Parameters, parseQuery, queryOf } from "../api/requests/query.ts";
import { LIMIT_DEFAULT, NOT_A_CURSOR, PAGE_PARAMETERS } from "./page_query.ts";
import { petIdOf, petNotFoundError } from "./pet_id.ts";
import { lastLineOf, lineBefore, type PetLine, petLineAt } from "./pet_lines.ts";
import type { PetReader } from "./pet_reader.ts";
import type { PetRecord } from "./pet_records.ts";

/** A page ends after so many bytes of lines, because slow clients keep them in memory. */
const PAGE_BYTES = 1024 * 1024;

interface PetEventsQuery {
  limit: number;
  /** The id of the last event on the page before. */
  cursor: string;
}

export const PET_EVENTS_PARAMETERS: Parameters<PetEventsQuery> = {
  limit: PAGE_PARAMETERS.limit,
  cursor: {
    description: PAGE_PARAMETERS.cursor.description,
    schema: { type: "string", pattern: FEED_ID_PATTERN.source, maxLength: 33 },
    parse: (value, refuse) => FEED_ID_PATTERN.test(value) ? value : refuse(NOT_A_CURSOR),
  },
};

interface ListPetEventsDeps {
  background: BackgroundWork;
  pets: PetReader;
  store: Store;
}

/** Rejects with `invalid_parameter`, `pet_not_found` and `projection_damaged`. */
export async function listPetEvents(
  deps: ListPetEventsDeps,
  { request, baseUrl }: ApiRequest,
  entry: HeadEntry,
): Promise<HttpResponse> {
  const query = { limit: LIMIT_DEFAULT, ...parseQuery(request.search, PET_EVENTS_PARAMETERS) };
  const pet = await deps.pets.get(petIdOf(request.path), entry);
  if (pet === undefined) throw petNotFoundError();
  const lines = await readPage(deps.store, entry, pet, query);
  const body = `[${lines.map(encodeLine).join(",")}]`;
  const headers: HttpResponse["headers"] = { ...READ_HEADERS, vary: "accept-encoding" };
  const last = lines.at(-1);
  if (last?.event.predecessor !== undefined) {
    const next = `${baseUrl}/pets/${pet.id}/events?${queryOf({ ...query, cursor: last.id })}`;
    headers.link = `<${next}>; rel="next"`;
  }
  headers.etag = entityTag(body);
  const response = { status: 200, body, headers, contentHeaders: EVENT_BATCH_HEADERS };
  return await compressed(response, request.headers, () => deps.background.turn("pages"));
}

/** The lines on a page. The log does not change, so they are those of one moment. */
async function readPage(
  store: Store,
  { head }: HeadEntry,
  pet: PetRecord,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<PetLine[]> {
  const page: PetLine[] = [];
  let bytes = 0;
  let line = cursor === undefined
    ? await lastLineOf(store, head, pet)
    : await lineAfterCursor(store, head, pet, cursor);
  while (line !== undefined) {
    page.push(line);
    bytes += line.line.length;
    const isFull = page.length === limit || bytes >= PAGE_BYTES;
    line = isFull ? undefined : await lineBefore(store, line);
  }
  return page;
}

/**
 * The first line on the page with that cursor. Rejects with `invalid_parameter` unless the cursor is the id of an event of
 * the pet.
 */
async function lineAfterCursor(
  store: Store,
  head: HeadEntry["head"],
  { id }: PetRecord,
  cursor: string,
): Promise<PetLine | undefined> {
  const shown = await petLineAt(store, head, cursor, id);
  if (shown === undefined) throw parameterError("cursor", NOT_A_CURSOR);
  return await lineBefore(store, shown);
}

function encodeLine(line: PetLine): string {
  return encodePublicEvent(line, line.id, line.event.actor);
}
