import type { ApiRequest } from "../api/api_request.ts";
import { ERRORS_OF_ALL, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { HEADERS_OF_REMOVALS } from "../api/described_headers.ts";
import type { WriteOperation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY } from "../api/requests/idempotency_key.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { IF_MATCH, IF_NONE_MATCH_OF_WRITE } from "../api/requests/write_conditions.ts";
import { removedResponse } from "../api/written_response.ts";
import { PET_ID, PETS_TAG } from "./described_pets.ts";
import { parseTarget } from "./parse_target.ts";
import * as commands from "./write_pet.ts";

export interface RemovePetDeps extends commands.WritePetDeps {
  bodies: BodyReader;
}

export const removePet: WriteOperation<RemovePetDeps> = {
  id: "removePet",
  method: "DELETE",
  path: "/pets/{petId}",
  tag: PETS_TAG,
  summary: "Remove an animal",
  description:
    "Removes an animal. Nothing but `restorePet` brings it back, and no other animal gets its `id`.",
  parameters: [PET_ID, IF_MATCH, IF_NONE_MATCH_OF_WRITE, IDEMPOTENCY_KEY],
  responses: {
    204: {
      description: "The animal was removed, by this request or by an earlier one with the same key",
      headers: HEADERS_OF_REMOVALS,
    },
  },
  errors: [...ERRORS_OF_ALL, ...ERRORS_OF_WRITES, "pet_not_found", "precondition_failed"],
  kind: "write",
  prepare,
};

async function prepare(deps: RemovePetDeps, { request }: ApiRequest, token: string) {
  const target = parseTarget(request);
  await deps.bodies.read(request);
  return async () => removedResponse(await commands.removePet(deps, { ...target, token }));
}
