import type { ApiRequest } from "../api/api_request.ts";
import { content } from "../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { HEADERS_OF_WRITTEN } from "../api/described_headers.ts";
import type { WriteOperation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../api/requests/idempotency_key.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../api/requests/write_conditions.ts";
import { writtenResponse } from "../api/written_response.ts";
import { EXAMPLE_PET, PET, PET_ID, PETS_TAG } from "./described_pets.ts";
import { parseTarget } from "./parse_target.ts";
import * as commands from "./write_pet.ts";

export interface RestorePetDeps extends commands.WritePetDeps {
  bodies: BodyReader;
}

export const restorePet: WriteOperation<RestorePetDeps> = {
  id: "restorePet",
  method: "POST",
  path: "/pets/{petId}/restore",
  tag: PETS_TAG,
  summary: "Restore a removed animal",
  description:
    "Brings a removed animal back as it was, with its `id` and its history. `listPets` with `removed` has the removed " +
    "animals, each with its `etag` for `If-Match`.",
  parameters: [PET_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  responses: {
    200: {
      description:
        "The animal was restored, by this request or by an earlier one with the same key",
      headers: HEADERS_OF_WRITTEN,
      content: content(PET, EXAMPLE_PET),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    "pet_not_found",
    "pet_not_removed",
    "pet_erased",
    "precondition_failed",
  ],
  sample: { kind: "POST without a body" },
  kind: "write",
  prepare,
};

async function prepare(deps: RestorePetDeps, { request }: ApiRequest, token: string) {
  const target = parseTarget(request);
  await deps.bodies.read(request);
  return async () => writtenResponse(200, await commands.restorePet(deps, { ...target, token }));
}
