import { decodePet, encodePet, patchPet, type PetPatch, reversePatch } from "../../events/pet.ts";
import { ServiceError } from "../service_error.ts";
import { clientAppend, type ClientAppendDeps, type ClientRequest } from "./client_append.ts";

export interface UpdatePetRequest extends ClientRequest {
  petId: number;
  patch: PetPatch;
  /** Whether the pet with that JSON text is one that the client expects to change. */
  isExpected?: (petText: string) => boolean;
}

export interface UpdatedPet {
  /** The JSON text of the pet after the change. */
  text: string;
  /** Whether an earlier request with the same Idempotency-Key made the change. */
  isDuplicate: boolean;
}

/**
 * Changes a pet. If the patch changes nothing, no event is appended. If the Idempotency-Key already made the same
 * change, resolves to the pet as it was after that. Rejects as {@linkcode clientAppend} does, with `pet_not_found`, and
 * with `precondition_failed` if the pet is not an expected one.
 */
export async function updatePet(
  deps: ClientAppendDeps,
  request: UpdatePetRequest,
): Promise<UpdatedPet> {
  const { petId, patch, isExpected = () => true } = request;
  let text = "";
  const { event, isDuplicate } = await clientAppend(deps, request, {
    petId,
    async prepare(base) {
      const found = await deps.pets.get(petId, base);
      if (found === undefined) {
        throw new ServiceError("pet_not_found", "An animal with this identifier does not exist");
      }
      text = found;
    },
    decide(_head, changed) {
      const before = changed ?? decodePet(text);
      if (!isExpected(encodePet(before))) {
        const message = "If-Match does not name the ETag of the animal; a weak one (W/) never does";
        throw new ServiceError("precondition_failed", message);
      }
      const after = patchPet(before, patch);
      const previous = reversePatch(before, after);
      if (Object.keys(previous).length === 0) return undefined;
      return { type: "PetUpdated", data: { ...after, previous } };
    },
    isOutcome: ({ type, data }) =>
      type === "PetUpdated" && data.id === petId &&
      encodePet(patchPet(data, patch)) === encodePet(data) &&
      Object.keys(data.previous).every((name) => Object.hasOwn(patch, name)),
  });
  return { text: event === undefined ? text : encodePet(event.data), isDuplicate };
}
