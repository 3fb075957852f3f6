/** The commands of clients that add, change or remove a pet. */

import { type EventMetadata, type Head, ServiceError } from "eventstore-less";
import type { RecordedEvent } from "../../events/all_events.ts";
import { petAfter, type PetEventBody } from "../../events/pet_event.ts";
import { isPetEvent, type PetEvent } from "./pet_event.ts";
import { petSubject } from "./pet_keys.ts";
import { lastPetIdOf } from "./pet_counts.ts";
import {
  encodePet,
  formerValuesOf,
  type NewPet,
  patchPet,
  type Pet,
  type PetPatch,
} from "../../events/pet.ts";
import {
  type Expectations,
  type WriteDeps,
  type WriteRequest,
  writeWithKey,
} from "../keys/write_with_key.ts";
import type { PetReader, ProvenPet } from "./pet_reader.ts";

export interface WritePetDeps extends WriteDeps {
  pets: PetReader;
}

export interface RemovePetRequest extends WriteRequest, Expectations {
  petId: number;
}

export interface UpdatePetRequest extends RemovePetRequest {
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
   * The event of the request; `undefined` if nothing changes. `before` is the pet, if it exists. Throws the refusal.
   */
  decide(head: Pick<Head, "types">, before?: PetState): DecidedPetEvent | undefined;
  /** Whether an earlier event with the same Idempotency-Key is the outcome of the same request. */
  isOutcome(event: PetEventBody): boolean;
}

/** A pet, and the position of its last event. */
interface PetState {
  pet: Pet;
  position: number;
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
export function removePet(deps: WritePetDeps, request: RemovePetRequest): Promise<WrittenPet> {
  return writePet(deps, request, removalRule(request));
}

export function removalRule({ petId, ...expectations }: Omit<RemovePetRequest, "token">): PetRule {
  return {
    petId,
    decide(_head, before) {
      const { pet, position } = expectPet(before, expectations);
      return { type: "PetRemoved", data: pet, predecessor: position };
    },
    isOutcome: ({ type, data }) => type === "PetRemoved" && data.id === petId,
  };
}

/** Throws unless the pet exists and is what the client expects. */
function expectPet(before: PetState | undefined, expectations: Expectations): PetState {
  const { isExpected, isExcluded } = expectations;
  if (before === undefined) {
    throw new ServiceError("pet_not_found", "An animal with this identifier does not exist");
  }
  if (isExpected !== undefined && !isExpected(encodePet(before.pet))) {
    const message = "The animal has changed since you read it: read it again";
    throw new ServiceError("precondition_failed", message);
  }
  if (isExcluded?.(encodePet(before.pet))) {
    const message = "The animal is in a state that If-None-Match excludes";
    throw new ServiceError("precondition_failed", message);
  }
  return before;
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
    read: async (base) => petId === undefined ? undefined : await deps.pets.getProven(petId, base),
    decide: (head, before: ProvenPet | undefined, last) =>
      rule.decide(head, last === undefined ? stateOf(before) : stateAfter(last)),
    isOutcome: (event) => isPetEvent(event) && rule.isOutcome(event),
  });
  if (event !== undefined) {
    const { data } = event as PetEvent;
    return { id: data.id, text: encodePet(data), isDuplicate };
  }
  // A request without an event changes nothing, so it leaves the pet as it has read it.
  const { id, text } = before!;
  return { id, text, isDuplicate };
}

function stateOf(before: ProvenPet | undefined): PetState | undefined {
  return before && { pet: before.proven, position: before.position };
}

/** The pet after an event of the same commit. */
export function stateAfter(last: RecordedEvent): PetState | undefined {
  const pet = petAfter(last as PetEvent);
  return pet && { pet, position: last.position };
}
