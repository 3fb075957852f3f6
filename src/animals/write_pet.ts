/** The commands of clients that add, change, remove or restore a pet. */

import { type EventMetadata, type Head, ServiceError } from "eventstore-less";
import { isErased } from "eventstore-less/parts";
import type { PetEventBody } from "../../events/pet_event.ts";
import { isPetEvent, type PetEvent } from "./pet_event.ts";
import { petSubject } from "./pet_keys.ts";
import { lastPetIdOf } from "./pet_counts.ts";
import {
  encodePet,
  formerValuesOf,
  type NewPet,
  patchPet,
  PERSONAL_PET_FIELDS,
  type Pet,
  type PetPatch,
} from "../../events/pet.ts";
import {
  type Expectations,
  type WriteDeps,
  type WriteRequest,
  writeWithKey,
} from "../keys/write_with_key.ts";
import type { PetReader } from "./pet_reader.ts";
import { type PetState, stateAfter } from "./pet_state.ts";

export interface WritePetDeps extends WriteDeps {
  pets: PetReader;
}

/** A request to remove or to restore a pet. */
export interface PetRequest extends WriteRequest, Expectations {
  petId: number;
}

export interface UpdatePetRequest extends PetRequest {
  patch: PetPatch;
}

export interface WrittenPet {
  id: number;
  /** The JSON text of the pet after the request, or of the removed one. */
  text: string;
  /** Whether an earlier request with the same Idempotency-Key wrote it. */
  isDuplicate: boolean;
}

/** The effect of a request on a pet. Its functions depend only on their arguments. */
interface PetRule {
  /** Absent for an addition. */
  petId?: number;
  /**
   * The event of the request; `undefined` if nothing changes. `before` is absent if no pet ever had the id. Throws the
   * refusal.
   */
  decide(head: Pick<Head, "types">, before?: PetState): DecidedPetEvent | undefined;
  /** Whether an earlier event with the same Idempotency-Key is the outcome of the same request. */
  isOutcome(event: PetEventBody): boolean;
}

type DecidedPetEvent = PetEventBody & Pick<EventMetadata, "predecessor">;

/** Rejects as {@linkcode writeWithKey}. */
export function createPet(
  deps: WritePetDeps,
  request: WriteRequest & { pet: NewPet },
): Promise<WrittenPet> {
  return writePet(deps, request, additionRule(request.pet));
}

export function additionRule(pet: NewPet): PetRule {
  const petOf = (id: number): Pet => ({ id, ...pet });
  return {
    decide: (head) => ({ type: "PetCreated", data: petOf(lastPetIdOf(head) + 1) }),
    isOutcome: ({ type, data }) =>
      type === "PetCreated" && encodePet(data) === encodePet(petOf(data.id)),
  };
}

/** Appends nothing if nothing changes. Rejects as createPet(), or with `pet_not_found` or `precondition_failed`. */
export function updatePet(deps: WritePetDeps, request: UpdatePetRequest): Promise<WrittenPet> {
  return writePet(deps, request, changeRule(request));
}

export function changeRule(
  { petId, patch, ...expectations }: Omit<UpdatePetRequest, "token">,
): PetRule {
  return {
    petId,
    decide(_head, before) {
      const { pet, position } = expectPet(before, expectations);
      const after = patchPet(pet, patch);
      const previous = formerValuesOf(pet, after);
      if (Object.keys(previous).length === 0) return undefined;
      return { type: "PetUpdated", data: { ...after, previous }, predecessor: position };
    },
    isOutcome({ type, data }) {
      if (type !== "PetUpdated" || data.id !== petId) return false;
      const isAsPatched = encodePet(patchPet(data, patch)) === encodePet(data);
      return isAsPatched && Object.keys(data.previous).every((name) => Object.hasOwn(patch, name));
    },
  };
}

/** Rejects as updatePet(). */
export function removePet(deps: WritePetDeps, request: PetRequest): Promise<WrittenPet> {
  return writePet(deps, request, removalRule(request));
}

export function removalRule({ petId, ...expectations }: Omit<PetRequest, "token">): PetRule {
  return {
    petId,
    decide(_head, before) {
      const { pet, position } = expectPet(before, expectations);
      return { type: "PetRemoved", data: pet, predecessor: position };
    },
    isOutcome: ({ type, data }) => type === "PetRemoved" && data.id === petId,
  };
}

/** Rejects as updatePet(), or with `pet_not_removed` or `pet_erased`. */
export function restorePet(deps: WritePetDeps, request: PetRequest): Promise<WrittenPet> {
  return writePet(deps, request, restoreRule(request));
}

export function restoreRule({ petId, ...expectations }: Omit<PetRequest, "token">): PetRule {
  return {
    petId,
    decide(_head, before) {
      const { pet, position } = expectRemoved(before);
      expectText(pet, expectations);
      return { type: "PetRestored", data: pet, predecessor: position };
    },
    isOutcome: ({ type, data }) => type === "PetRestored" && data.id === petId,
  };
}

/** Throws unless the pet is there and is what the client expects. */
function expectPet(before: PetState | undefined, expectations: Expectations): PetState {
  if (before === undefined || before.isRemoved) throw petNotFoundError();
  expectText(before.pet, expectations);
  return before;
}

/** Throws unless the pet is removed, and still has the texts that people gave it. */
function expectRemoved(before: PetState | undefined): PetState {
  if (before === undefined) throw petNotFoundError();
  if (!before.isRemoved) {
    throw new ServiceError("pet_not_removed", "The animal is there, so it cannot be restored");
  }
  const texts = PERSONAL_PET_FIELDS.map((name) => String(before.pet[name]));
  if (texts.some(isErased)) {
    const message = "The operator has erased personal data of the animal, so it cannot be restored";
    throw new ServiceError("pet_erased", message);
  }
  return before;
}

function expectText(pet: Pet, { isExpected, isExcluded }: Expectations): void {
  const text = encodePet(pet);
  if (isExpected !== undefined && !isExpected(text)) {
    const message = "The animal has changed since you read it: read it again";
    throw new ServiceError("precondition_failed", message);
  }
  if (isExcluded?.(text)) {
    const message = "The animal is in a state that If-None-Match excludes";
    throw new ServiceError("precondition_failed", message);
  }
}

function petNotFoundError(): ServiceError {
  return new ServiceError("pet_not_found", "An animal with this identifier does not exist");
}

/** Carries out a request, and returns the pet after it, or the one that it has removed. */
async function writePet(
  deps: WritePetDeps,
  request: WriteRequest,
  rule: PetRule,
): Promise<WrittenPet> {
  const { petId } = rule;
  const { event, before, isDuplicate } = await writeWithKey(deps, request, {
    subject: petId === undefined ? undefined : petSubject(petId),
    read: async (base) => petId === undefined ? undefined : await deps.pets.getState(petId, base),
    decide: (head, before: PetState | undefined, last) =>
      rule.decide(head, last === undefined ? before : stateAfter(last as PetEvent)),
    isOutcome: (event) => isPetEvent(event) && rule.isOutcome(event),
  });
  if (event !== undefined) {
    const { data } = event as PetEvent;
    return { id: data.id, text: encodePet(data), isDuplicate };
  }
  // A request without an event changes nothing, so it leaves the pet as it has read it.
  const { pet } = before!;
  return { id: pet.id, text: encodePet(pet), isDuplicate };
}
