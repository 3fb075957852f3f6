/** The operations of the interface (section 4). */

import type { Head } from "eventstore-less/definitions.ts";
import {
  createPet,
  removePet,
  updatePet,
  type WritePetDeps,
  type WrittenPet,
} from "./write_pet.ts";
import { feedPositionOf } from "eventstore-less/feed/event_feed.ts";
import type { HeadEntry } from "eventstore-less/log/head.ts";
import { andThen } from "../runtime/runtime.ts";
import type { ServiceRequest } from "../runtime/service_request.ts";
import { headOf, type Page, type PageQuery, totalOf } from "./page.ts";
import { type HttpResponse, NEVER_STORED, READ_HEADERS } from "../api/http_response.ts";
import { compressed } from "../api/compression.ts";
import { entityTag, entityTagOfHash } from "../api/conditional_read.ts";
import type { ApiKey } from "../keys/api_key.ts";
import type { BackgroundWork } from "eventstore-less/feed/background_work.ts";
import {
  IDEMPOTENCY_REPLAYED_HEADER,
  parseIdempotencyKey,
} from "../api/requests/idempotency_key.ts";
import { parseIfMatch } from "../api/requests/if_match.ts";
import type { ApiOperation, ApiRoute } from "../api/api_operation.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { parseQuery, queryOf } from "../api/requests/query.ts";
import { listPetEvents } from "./list_pet_events.ts";
import { parsePageQuery } from "./page_query.ts";
import { parseNewPet, parsePetPatch } from "./pet_body.ts";
import { petIdOf, petNotFoundError } from "./pet_id.ts";
import type { BodyReader } from "../api/requests/request_body.ts";

/** getPet is deprecated since the first release (RFC 9745), and removed on that day (RFC 8594). */
export const DEPRECATION_HEADERS = {
  deprecation: `@${Date.UTC(2026, 10, 1) / 1_000}`,
  sunset: new Date(Date.UTC(2030, 11, 5)).toUTCString(),
};

/** The text of a page without animals. */
const NO_PETS = "[]";

export interface PetDeps extends WritePetDeps {
  bodies: BodyReader;
  background: BackgroundWork;
}

export const PET_OPERATIONS = {
  listPets: { kind: "read", respond: listPets },
  getPet: { kind: "read", respond: getPet },
  createPet: { kind: "write", prepare: prepareCreatePet },
  updatePet: { kind: "write", prepare: prepareUpdatePet },
  removePet: { kind: "write", prepare: prepareRemovePet },
  listPetEvents: { kind: "read", respond: listPetEvents },
} satisfies Record<string, ApiOperation<PetDeps>>;

export const PET_ROUTES: ApiRoute<keyof typeof PET_OPERATIONS>[] = [
  { path: "/pets", operations: { GET: "listPets", POST: "createPet" } },
  {
    path: "/pets/{petId}",
    operations: { GET: "getPet", PATCH: "updatePet", DELETE: "removePet" },
  },
  { path: "/pets/{petId}/events", operations: { GET: "listPetEvents" } },
];

function listPets(
  deps: PetDeps,
  exchange: ApiRequest,
  entry: HeadEntry,
  apiKey: ApiKey,
): HttpResponse | Promise<HttpResponse> {
  const { background, pets } = deps;
  const query = parsePageQuery(exchange.request.search);
  const isSearch = query.name !== undefined;
  // A search may take seconds, which would hide how long lists take.
  if (isSearch) exchange.measuredAs = "listPetsByName";
  const listed = pets.list(query, entry, apiKey.id);
  if (!(listed instanceof Promise)) return showPage(listed, query, deps, exchange, entry);
  // It has turns, so nothing is kept free for it.
  if (pets.isSlow(query)) background.requestLeft(exchange);
  return listed.then((page) => showPage(page, query, deps, exchange, entry));
}

function showPage(
  page: Page,
  query: PageQuery,
  { background }: PetDeps,
  exchange: ApiRequest,
  entry: HeadEntry,
): HttpResponse | Promise<HttpResponse> {
  const { request, baseUrl } = exchange;
  const head = headOf(page, entry);
  const cached = page.cachedHeaders;
  const isValid = cached?.head === head && cached.baseUrl === baseUrl;
  const headers = isValid ? cached.headers : headersOf(page, query, head, baseUrl);
  if (!isValid) page.cachedHeaders = { head, baseUrl, headers };
  const response = { status: 200, body: page.text, headers };
  return compressed(response, request.headers, () => background.turn("pages"), page);
}

function headersOf(page: Page, query: PageQuery, head: Head, baseUrl: string) {
  const headers: HttpResponse["headers"] = {
    ...READ_HEADERS,
    vary: "accept-encoding",
    etag: tagOfPage(page, query),
    "x-feed-position": feedPositionOf(head).id,
  };
  const total = totalOf(query, page, head);
  if (total !== undefined) headers["x-total-count"] = String(total);
  if (page.next !== undefined) {
    // Absolute (RFC 8288), because many clients do not resolve it.
    const next = `${baseUrl}/pets?${queryOf({ ...query, cursor: page.next })}`;
    headers.link = `<${next}>; rel="next"`;
  }
  return headers;
}

/** The page of one id has the tag of its animal, so a client can send it as `If-Match`. */
function tagOfPage({ text, hash }: Page, { ids }: PageQuery): string {
  const isOnePet = ids?.length === 1 && text !== NO_PETS;
  return isOnePet ? entityTag(text.slice(1, -1)) : entityTagOfHash(hash);
}

function getPet(
  { pets }: WritePetDeps,
  { request: { path, search }, baseUrl }: ApiRequest,
  entry: HeadEntry,
): HttpResponse | Promise<HttpResponse> {
  if (search !== "") parseQuery(search, {});
  const link = `<${baseUrl}/pets?status=available>; rel="successor-version"`;
  const deprecation = { ...DEPRECATION_HEADERS, link };
  return andThen(pets.get(petIdOf(path, deprecation), entry), (pet) => {
    if (pet === undefined) throw petNotFoundError(deprecation);
    // The hash costs more than all else that a read from the caches does.
    pet.cachedTag ??= entityTag(pet.text);
    const headers = { ...deprecation, ...READ_HEADERS, etag: pet.cachedTag };
    return { status: 200, body: pet.text, headers };
  });
}

async function prepareCreatePet(
  deps: PetDeps,
  { request, baseUrl }: ApiRequest,
  token: string,
) {
  if (request.search !== "") parseQuery(request.search, {});
  const idempotencyKey = parseIdempotencyKey(request.headers);
  const pet = parseNewPet(await deps.bodies.readJson(request));
  return async () => {
    const created = await createPet(deps, { pet, token, idempotencyKey });
    return written(201, created, { location: `${baseUrl}/pets/${created.id}` });
  };
}

async function prepareUpdatePet(
  deps: PetDeps,
  { request }: ApiRequest,
  token: string,
) {
  const target = parseTarget(request);
  const patch = parsePetPatch(await deps.bodies.readJson(request));
  return async () => written(200, await updatePet(deps, { ...target, patch, token }));
}

async function prepareRemovePet(
  deps: PetDeps,
  { request }: ApiRequest,
  token: string,
) {
  const target = parseTarget(request);
  await deps.bodies.read(request);
  return async () => {
    const { isDuplicate } = await removePet(deps, { ...target, token });
    return { status: 204, body: null, headers: writtenHeaders(isDuplicate) };
  };
}

/** The pet to change or to remove, with the conditions of the request. */
function parseTarget({ headers, path, search }: ServiceRequest) {
  if (search !== "") parseQuery(search, {});
  const petId = petIdOf(path);
  const idempotencyKey = parseIdempotencyKey(headers);
  const matches = parseIfMatch(headers);
  if (matches === undefined) return { petId, idempotencyKey };
  const isExpected = (petText: string) => matches(entityTag(petText));
  return { petId, idempotencyKey, isExpected };
}

function written(
  status: number,
  { text, isDuplicate }: WrittenPet,
  more: HttpResponse["headers"] = {},
): HttpResponse {
  const headers = { ...writtenHeaders(isDuplicate), etag: entityTag(text), ...more };
  return { status, body: text, headers };
}

function writtenHeaders(isDuplicate: boolean): HttpResponse["headers"] {
  return isDuplicate ? { ...NEVER_STORED, [IDEMPOTENCY_REPLAYED_HEADER]: "true" } : NEVER_STORED;
}
