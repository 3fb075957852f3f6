import { NewPet, Pet } from "../../events/pet.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { content } from "../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_JSON_BODIES, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { addressPattern, always, HEADERS_OF_WRITTEN } from "../api/described_headers.ts";
import type { WriteOperation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY, parseIdempotencyKey } from "../api/requests/idempotency_key.ts";
import { parseBody } from "../api/requests/parse_body.ts";
import { parseQuery } from "../api/requests/query.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { writtenResponse } from "../api/written_response.ts";
import { EXAMPLE_NEW_PET, EXAMPLE_PET, PET, PET_INPUT, PETS_TAG } from "./described_pets.ts";
import * as commands from "./write_pet.ts";

export interface CreatePetDeps extends commands.WritePetDeps {
  bodies: BodyReader;
}

const LOCATION = always(
  "Location",
  "The address of the animal that was added",
  addressPattern("/pets/[1-9][0-9]*"),
  `${EXAMPLE_BASE}/pets/${EXAMPLE_PET.id}`,
);

export const createPet: WriteOperation<CreatePetDeps> = {
  id: "createPet",
  method: "POST",
  path: "/pets",
  tag: PETS_TAG,
  summary: "Add an animal",
  description: "Adds an animal. The service assigns its `id`. An omitted `status` stays absent.",
  parameters: [IDEMPOTENCY_KEY],
  body: {
    description: "The animal, without its identifier",
    schema: PET_INPUT,
    example: EXAMPLE_NEW_PET,
  },
  responses: {
    201: {
      description: "The animal was added, by this request or by an earlier one with the same key",
      headers: [LOCATION, ...HEADERS_OF_WRITTEN],
      content: content(PET, EXAMPLE_PET),
    },
  },
  errors: [...ERRORS_OF_ALL, ...ERRORS_OF_WRITES, ...ERRORS_OF_JSON_BODIES],
  kind: "write",
  prepare,
};

async function prepare(deps: CreatePetDeps, { request, baseUrl }: ApiRequest, token: string) {
  if (request.search !== "") parseQuery(request.search, {});
  const idempotencyKey = parseIdempotencyKey(request.headers);
  const pet = parseBody(await deps.bodies.readJson(request), NewPet, Pet);
  return async () => {
    const created = await commands.createPet(deps, { pet, token, idempotencyKey });
    return writtenResponse(201, created, { location: `${baseUrl}/pets/${created.id}` });
  };
}
