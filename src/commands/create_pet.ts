import { encodePet, type NewPet, type Pet } from "../../events/pet.ts";
import { clientAppend, type ClientAppendDeps, type ClientRequest } from "./client_append.ts";

export interface CreatePetRequest extends ClientRequest {
  pet: NewPet;
}

export interface CreatedPet {
  pet: Pet;
  /** Whether an earlier request with the same Idempotency-Key added the pet. */
  isDuplicate: boolean;
}

/**
 * Adds a pet and resolves to it. If the Idempotency-Key already added the same pet, resolves to that pet as it was added.
 * Rejects as {@linkcode clientAppend} does.
 */
export async function createPet(
  deps: ClientAppendDeps,
  request: CreatePetRequest,
): Promise<CreatedPet> {
  const petOf = (id: number): Pet => ({ id, ...request.pet });
  const { event, isDuplicate } = await clientAppend(deps, request, {
    decide: ({ lastPetId }) => ({ type: "PetCreated", data: petOf(lastPetId + 1) }),
    isOutcome: ({ type, data }) =>
      type === "PetCreated" && encodePet(data) === encodePet(petOf(data.id)),
  });
  return { pet: petOf(event!.data.id), isDuplicate };
}
