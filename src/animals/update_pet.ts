import { Pet, PetPatch } from "../../events/pet.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { content } from "../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_JSON_BODIES, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { ACCEPT_PATCH_HEADER, HEADERS_OF_WRITTEN } from "../api/described_headers.ts";
import type { WriteOperation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../api/requests/idempotency_key.ts";
import { parsePatch } from "../api/requests/parse_body.ts";
import { type BodyReader, PATCH_TYPES } from "../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../api/requests/write_conditions.ts";
import { writtenResponse } from "../api/written_response.ts";
import { EXAMPLE_PET, PET, PET_ID, PET_PATCH, PETS_TAG } from "./described_pets.ts";
import { parseTarget } from "./parse_target.ts";
import * as commands from "./write_pet.ts";

export interface UpdatePetDeps extends commands.WritePetDeps {
  bodies: BodyReader;
}

const EXAMPLE_PATCH = { status: "sold" };

export const updatePet: WriteOperation<UpdatePetDeps> = {
  id: "updatePet",
  method: "PATCH",
  path: "/pets/{petId}",
  tag: PETS_TAG,
  summary: "Change an animal",
  description:
    "Changes the fields in the body, a JSON Merge Patch (RFC 7396). Other fields keep their values. If nothing changes, " +
    "the `Idempotency-Key` is not remembered, so a retry after a change by another client is carried out. With " +
    "`If-Match`, too, this retry gets 412.",
  parameters: [PET_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  body: {
    description: "The fields to change, with their new values",
    schema: PET_PATCH,
    example: EXAMPLE_PATCH,
    types: PATCH_TYPES,
  },
  responses: {
    200: {
      description:
        "The animal as it is after the change, or as an earlier request with the same key left it",
      headers: HEADERS_OF_WRITTEN,
      content: content(PET, { ...EXAMPLE_PET, ...EXAMPLE_PATCH }),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    ...ERRORS_OF_JSON_BODIES,
    "pet_not_found",
    "precondition_failed",
  ],
  errorHeaders: { 415: [ACCEPT_PATCH_HEADER] },
  kind: "write",
  prepare,
};

async function prepare(deps: UpdatePetDeps, { request }: ApiRequest, token: string) {
  const target = parseTarget(request);
  const patch = parsePatch(await deps.bodies.readJson(request), PetPatch, Pet);
  return async () =>
    writtenResponse(200, await commands.updatePet(deps, { ...target, patch, token }));
}
