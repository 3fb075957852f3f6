/** The operation `listPetEvents`: what happened to one animal, as CloudEvents, newest first. */

import { encodePublicEvent } from "eventstore-less/log";
import { type BackgroundWork, FEED_ID_PATTERN } from "eventstore-less/feed";
import type { HeadEntry } from "eventstore-less/head";
import type { Store } from "eventstore-less/store";
import type { ApiRequest } from "../api/api_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { arrayOf, content } from "../api/component.ts";
import { compressed } from "../api/compression.ts";
import { entityTag } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { EVENTS_TAG, EXAMPLE_EVENT_ID, EXAMPLE_ULID } from "../api/described_event.ts";
import { HEADERS_OF_READS, linkPattern, sometimes } from "../api/described_headers.ts";
import { EVENT_BATCH_HEADERS, type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import {
  parameterError,
  type Parameters,
  parseQuery,
  queryOf,
  queryParameters,
} from "../api/requests/query.ts";
import { EXAMPLE_PET, EXAMPLE_PET_EVENT, PET_EVENT, PET_ID } from "./described_pets.ts";
import { LIMIT_DEFAULT, LIMIT_MAX, NOT_A_CURSOR, PAGE_PARAMETERS } from "./page_query.ts";
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

const PARAMETERS: Parameters<PetEventsQuery> = {
  limit: PAGE_PARAMETERS.limit,
  cursor: {
    description: PAGE_PARAMETERS.cursor.description,
    schema: { type: "string", pattern: FEED_ID_PATTERN.source, maxLength: 33 },
    parse: (value, refuse) => FEED_ID_PATTERN.test(value) ? value : refuse(NOT_A_CURSOR),
  },
};

export interface ListPetEventsDeps {
  background: BackgroundWork;
  pets: PetReader;
  store: Store;
}

const LINK = sometimes(
  "Link.history",
  "The address of the next page, with earlier events (RFC 8288); absent on the last page",
  linkPattern("/pets/[1-9][0-9]*/events\\?[^<>]+"),
  `<${EXAMPLE_BASE}/pets/${EXAMPLE_PET.id}/events?limit=20&cursor=${EXAMPLE_EVENT_ID}>; rel="next"`,
);

export const listPetEvents: Operation<ListPetEventsDeps> = {
  id: "listPetEvents",
  method: "GET",
  path: "/pets/{petId}/events",
  tag: EVENTS_TAG,
  summary: "List the events of an animal",
  description:
    "Lists what happened to one animal, newest first, one page at a time. The service finds an event by the one " +
    "after it. Events that it stored before version 6 do not name the one before, so the list ends with the newest " +
    "of these. A page with a megabyte has no more events.",
  parameters: [PET_ID, ...queryParameters(PARAMETERS)],
  responses: {
    200: {
      description: "A page of events; the `Link` header names the next page, if there is one",
      headers: [LINK, ...HEADERS_OF_READS],
      content: content(
        arrayOf(PET_EVENT, LIMIT_MAX),
        [{ ...EXAMPLE_PET_EVENT, actor: EXAMPLE_ULID }],
        [EVENT_BATCH_HEADERS["content-type"]],
      ),
    },
  },
  errors: [...ERRORS_OF_ALL, "pet_not_found"],
  kind: "read",
  respond,
};

/** Rejects with `invalid_parameter`, `pet_not_found` and `projection_damaged`. */
async function respond(
  deps: ListPetEventsDeps,
  { request, baseUrl }: ApiRequest,
  entry: HeadEntry,
): Promise<HttpResponse> {
  const query = { limit: LIMIT_DEFAULT, ...parseQuery(request.search, PARAMETERS) };
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
