import { andThen, type HeadEntry } from "eventstore-less/parts";
import type { ApiRequest } from "../api/api_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { content } from "../api/component.ts";
import { entityTag } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { always, HEADERS_OF_READS, linkPattern } from "../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { parseQuery } from "../api/requests/query.ts";
import { EXAMPLE_PET, PET, PET_ID, PETS_TAG } from "./described_pets.ts";
import { petIdOf, petNotFoundError } from "./pet_id.ts";
import type { PetReader } from "./pet_reader.ts";

export interface GetPetDeps {
  pets: PetReader;
}

/** The operation is deprecated since the first release (RFC 9745), and removed on that day (RFC 8594). */
export const DEPRECATION_HEADERS = {
  deprecation: `@${Date.UTC(2026, 10, 1) / 1_000}`,
  sunset: new Date(Date.UTC(2030, 11, 5)).toUTCString(),
};

/** The day of its removal: that of the HTTP date, without its weekday. */
const REMOVAL_DATE = DEPRECATION_HEADERS.sunset.slice(5, 16);

const SUCCESSOR = "/pets?status=available";
const SUCCESSOR_REL = "successor-version";

const WARNINGS = [
  always(
    "Deprecation",
    "The date since which the operation is deprecated (RFC 9745)",
    DEPRECATION_HEADERS.deprecation,
  ),
  always(
    "Sunset",
    "The date on which the operation will be removed (RFC 8594)",
    DEPRECATION_HEADERS.sunset,
  ),
  always(
    "Link.successor",
    "The replacement of the operation (RFC 5829)",
    linkPattern(SUCCESSOR.replace("?", "\\?"), SUCCESSOR_REL),
    linkToSuccessor(EXAMPLE_BASE),
  ),
];

export const getPet: Operation<GetPetDeps> = {
  id: "getPet",
  method: "GET",
  path: "/pets/{petId}",
  tag: PETS_TAG,
  summary: "Get an animal",
  description: `Returns one animal. This operation will be removed on ${REMOVAL_DATE}: ` +
    "use `listPets` with `ids` or a `status` instead.",
  deprecated: true,
  parameters: [PET_ID],
  responses: {
    200: {
      description: "The animal",
      headers: [...WARNINGS, ...HEADERS_OF_READS],
      content: content(PET, EXAMPLE_PET),
    },
  },
  errors: [...ERRORS_OF_ALL, "pet_not_found"],
  errorHeaders: { 404: WARNINGS },
  kind: "read",
  respond,
};

function respond(
  { pets }: GetPetDeps,
  { request: { path, search }, baseUrl }: ApiRequest,
  entry: HeadEntry,
): HttpResponse | Promise<HttpResponse> {
  if (search !== "") parseQuery(search, {});
  const deprecation = { ...DEPRECATION_HEADERS, link: linkToSuccessor(baseUrl) };
  return andThen(pets.get(petIdOf(path, deprecation), entry), (pet) => {
    if (pet === undefined) throw petNotFoundError(deprecation);
    // The hash costs more than the rest of a read from the caches.
    pet.cachedTag ??= entityTag(pet.text);
    const headers = { ...deprecation, ...READ_HEADERS, etag: pet.cachedTag };
    return { status: 200, body: pet.text, headers };
  });
}

function linkToSuccessor(baseUrl: string): string {
  return `<${baseUrl}${SUCCESSOR}>; rel="${SUCCESSOR_REL}"`;
}
