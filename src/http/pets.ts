/** The three operations of the interface (sections 4.1 to 4.3). */

import { encodePet } from "../../events/pet.ts";
import { createPet, type CreatePetDeps, type CreatePetRequest } from "../commands/create_pet.ts";
import type { Head } from "../log/head.ts";
import type { PetReader } from "../projections/pet_reader.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import { entityTag } from "./conditional_read.ts";
import { HttpError } from "./errors.ts";
import {
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
  parseIdempotencyKey,
} from "./idempotency_key.ts";
import { parseNewPet } from "./new_pet.ts";
import { parsePageQuery, refuseQuery } from "./page_query.ts";
import { type BodyLimits, readJsonBody } from "./request_body.ts";

export const PETS_PATH = "/v1/pets";

/**
 * getPet has been deprecated (RFC 9745) since the first release of the service. Its announced removal date is
 * 5 December 2030 (RFC 8594; section 9 of the interface). Its successor is the list.
 */
export const DEPRECATION_HEADERS = {
  deprecation: `@${Date.UTC(2026, 10, 1) / 1_000}`,
  sunset: new Date(Date.UTC(2030, 11, 5)).toUTCString(),
  link: `<${PETS_PATH}?status=available>; rel="successor-version"`,
};

/**
 * Only the client may cache a read, and it revalidates each time, because a pet may be added at any moment.
 */
export const READ_HEADERS = { "cache-control": "private, no-cache", vary: "authorization" };

export async function handleListPets(
  pets: PetReader,
  head: Head,
  search: string,
): Promise<HttpResponse> {
  const page = await pets.list(parsePageQuery(search), head);
  const known = page.answered as PageAnswer | undefined;
  if (known?.search === search) return known.answer;
  // The tag covers the cursor of the next page too, because the Link header contains it.
  const etag = entityTag(`${page.next ?? ""}${page.text}`);
  const headers: HttpResponse["headers"] = { ...READ_HEADERS, etag };
  if (page.next !== undefined) headers.link = nextLink(search, page.next);
  const answer = { status: 200, body: page.text, headers };
  page.answered = { search, answer } satisfies PageAnswer;
  return answer;
}

/** The cached response of a page and its query. The query matters because the Link header repeats it. */
interface PageAnswer {
  search: string;
  answer: HttpResponse;
}

/**
 * The Link header of the next page (RFC 8288). The path is absolute without a host, so it works behind a
 * proxy.
 */
function nextLink(search: string, cursor: number): string {
  const parameters = new URLSearchParams(search);
  parameters.set("cursor", String(cursor));
  return `<${PETS_PATH}?${parameters}>; rel="next"`;
}

/**
 * Reads and validates the request. Rejects with an {@linkcode HttpError} if its query, key or body is not
 * valid.
 */
export async function readCreatePetRequest(
  request: Request,
  search: string,
  token: string,
  limits: BodyLimits,
): Promise<CreatePetRequest> {
  refuseQuery(search);
  const idempotencyKey = parseIdempotencyKey(request.headers.get(IDEMPOTENCY_KEY_HEADER));
  return { pet: parseNewPet(await readJsonBody(request, limits)), token, idempotencyKey };
}

export async function handleCreatePet(
  parts: CreatePetDeps,
  order: CreatePetRequest,
): Promise<HttpResponse> {
  const { pet, isDuplicate } = await createPet(parts, order);
  const headers: HttpResponse["headers"] = { ...NEVER_STORED, location: `${PETS_PATH}/${pet.id}` };
  if (isDuplicate) headers[IDEMPOTENCY_REPLAYED_HEADER] = "true";
  return { status: 201, body: encodePet(pet), headers };
}

export async function handleGetPet(
  pets: PetReader,
  head: Head,
  petId: string,
  search: string,
): Promise<HttpResponse> {
  refuseQuery(search);
  const pet = isPlainInteger(petId) ? await pets.get(Number(petId), head) : undefined;
  if (pet === undefined) {
    throw new HttpError("pet_not_found", "No animal has that identifier", DEPRECATION_HEADERS);
  }
  if (pet.answered !== undefined) return pet.answered as HttpResponse;
  const headers = { ...READ_HEADERS, ...DEPRECATION_HEADERS, etag: entityTag(pet.text) };
  return pet.answered = { status: 200, body: pet.text, headers } satisfies HttpResponse;
}

/**
 * Whether the text is a canonical integer. An integer too large for an int64 exceeds every id, so it is
 * harmless.
 */
function isPlainInteger(text: string): boolean {
  return /^(0|-?[1-9]\d{0,18})$/.test(text);
}
