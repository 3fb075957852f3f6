/** The three operations of the interface, sections 4.1 to 4.3. */

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
 * getPet is deprecated (RFC 9745) since the first release of the service, and announced to be removed
 * on 5 December 2030 (RFC 8594; section 9 of the interface). Its successor is the list.
 */
export const DEPRECATION_HEADERS = {
  deprecation: `@${Date.UTC(2026, 10, 1) / 1_000}`,
  sunset: new Date(Date.UTC(2030, 11, 5)).toUTCString(),
  link: `<${PETS_PATH}?status=available>; rel="successor-version"`,
};

/** To be kept by the client alone, and asked after each time, for the next pet may come at once. */
export const READ_HEADERS = { "cache-control": "private, no-cache", vary: "authorization" };

export async function handleListPets(
  pets: PetReader,
  head: Head,
  search: string,
): Promise<HttpResponse> {
  const page = await pets.list(parsePageQuery(search), head);
  const known = page.answered as PageAnswer | undefined;
  if (known?.search === search) return known.answer;
  // The cursor of the next page is in the Link header, and so a part of what the tag stands for.
  const etag = entityTag(`${page.next ?? ""}${page.text}`);
  const headers: HttpResponse["headers"] = { ...READ_HEADERS, etag };
  if (page.next !== undefined) headers.link = nextLink(search, page.next);
  const answer = { status: 200, body: page.text, headers };
  page.answered = { search, answer } satisfies PageAnswer;
  return answer;
}

/** What was answered with a page, and to which query: that decides what the next page is called. */
interface PageAnswer {
  search: string;
  answer: HttpResponse;
}

/** RFC 8288. The path is absolute and the host left out, so that it holds behind any proxy. */
function nextLink(search: string, cursor: number): string {
  const parameters = new URLSearchParams(search);
  parameters.set("cursor", String(cursor));
  return `<${PETS_PATH}?${parameters}>; rel="next"`;
}

/** What a request asks to be added. Refuses what is no valid NewPet. */
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

/** A canonical integer; one too large for an int64 is larger than any id as well. */
function isPlainInteger(text: string): boolean {
  return /^(0|-?[1-9]\d{0,18})$/.test(text);
}
