/** The commands of clients: they add, change or remove a pet, on behalf of an API key, once for each Idempotency-Key. */

import type { EventMetadata, Head, RecordedEvent } from "eventstore-less/definitions";
import { petAfter, type PetEventBody } from "../../events/pet_event.ts";
import type { PetEvent } from "./pet_event.ts";
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
import { type Appender, type Command, findEarlierEvent } from "eventstore-less/append";
import { hmacSha256Hex } from "../encoding/sha256.ts";
import type { HeadEntry } from "eventstore-less/head";
import { type ApiKeyReader, expectMayWrite } from "../keys/api_key_reader.ts";
import type { PetReader, ProvenPet } from "./pet_reader.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { ServiceError } from "eventstore-less/errors";
import type { Store } from "eventstore-less/store";

export interface WritePetDeps {
  appender: Appender;
  runtime: Runtime;
  apiKeys: ApiKeyReader;
  pets: PetReader;
  store: Store;
}

interface WritePetRequest {
  token: string;
  idempotencyKey?: string;
}

export interface RemovePetRequest extends WritePetRequest {
  petId: number;
  /** Whether the pet with that JSON text is one that the client expects to change or to remove. */
  isExpected?: (petText: string) => boolean;
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

/** Rejects as {@linkcode Appender.append}, or with `invalid_credentials`, `read_only_key`, `idempotency_key_reused`. */
export function createPet(
  deps: WritePetDeps,
  request: WritePetRequest & { pet: NewPet },
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
  { petId, patch, isExpected }: Omit<UpdatePetRequest, "token">,
): PetRule {
  return {
    petId,
    decide(_head, before) {
      const { pet, position } = expectPet(before, isExpected);
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

export function removalRule({ petId, isExpected }: Omit<RemovePetRequest, "token">): PetRule {
  return {
    petId,
    decide(_head, before) {
      const { pet, position } = expectPet(before, isExpected);
      return { type: "PetRemoved", data: pet, predecessor: position };
    },
    isOutcome: ({ type, data }) => type === "PetRemoved" && data.id === petId,
  };
}

/** Throws unless the pet exists and is what the client expects. */
function expectPet(
  before: PetState | undefined,
  isExpected: ((petText: string) => boolean) | undefined,
): PetState {
  if (before === undefined) {
    throw new ServiceError("pet_not_found", "An animal with this identifier does not exist");
  }
  if (isExpected === undefined || isExpected(encodePet(before.pet))) return before;
  const message = "The animal has changed since you read it: read it again";
  throw new ServiceError("precondition_failed", message);
}

/** The data that a request reads before it decides. */
interface PreparedWrite {
  /** The id of the API key. */
  actor: string;
  /** The event that the Idempotency-Key has caused before; then nothing is decided. */
  earlier?: PetEvent;
  before?: ProvenPet;
}

/**
 * Carries out a request: reads, decides, appends, and returns the pet. The key and the rule are checked as of exactly
 * the head that the commit replaces, so a revoked key never writes. If the Idempotency-Key has caused an event before,
 * nothing is appended: the outcome is the pet as it was after that.
 */
async function writePet(
  deps: WritePetDeps,
  { token, idempotencyKey }: WritePetRequest,
  rule: PetRule,
): Promise<WrittenPet> {
  const { appender, runtime } = deps;
  const eventTimeMs = runtime.now();
  const id = runtime.newId();
  const time = new Date(eventTimeMs).toISOString();
  // Nobody can guess it from a published log, because the token is secret.
  const logged = idempotencyKey === undefined ? undefined : hmacSha256Hex(token, idempotencyKey);
  const inputs = { token, logged, petId: rule.petId, eventTimeMs };
  const command: Command<PreparedWrite> = {
    subject: rule.petId === undefined ? undefined : petSubject(rule.petId),
    idempotencyKey: logged,
    prepare: (base) => prepareWrite(deps, base, inputs),
    decide(head, { actor, earlier, before }, last) {
      if (earlier !== undefined) return [];
      const decided = rule.decide(head, last === undefined ? stateOf(before) : stateAfter(last));
      if (decided === undefined) return [];
      const metadata: EventMetadata = { id, time, actor };
      if (logged !== undefined) metadata.idempotencyKey = logged;
      return [{ ...metadata, ...decided }];
    },
  };
  const { events, prepared: { earlier, before } } = await appender.append(command);
  if (earlier !== undefined) {
    expectOutcome(rule, earlier);
    return writtenPet(earlier, true);
  }
  const appended = events.at(0) as PetEvent | undefined;
  if (appended !== undefined) return writtenPet(appended, false);
  // A request without an event changes nothing, so it leaves the pet as prepare() has read it.
  const { id: petId, text } = before!;
  return { id: petId, text, isDuplicate: false };
}

function stateOf(before: ProvenPet | undefined): PetState | undefined {
  return before && { pet: before.proven, position: before.position };
}

/** The pet after an event of the same commit. */
export function stateAfter(last: RecordedEvent): PetState | undefined {
  const pet = petAfter(last as PetEvent);
  return pet && { pet, position: last.position };
}

function expectOutcome(rule: PetRule, earlier: PetEvent): void {
  if (rule.isOutcome(earlier)) return;
  const message = "The Idempotency-Key was sent with another request before; nothing was stored";
  throw new ServiceError("idempotency_key_reused", message);
}

function writtenPet({ data }: PetEvent, isDuplicate: boolean): WrittenPet {
  return { id: data.id, text: encodePet(data), isDuplicate };
}

interface WriteInputs {
  token: string;
  /** The HMAC of the Idempotency-Key. */
  logged: string | undefined;
  petId: number | undefined;
  eventTimeMs: number;
}

/** If an event of this Idempotency-Key is stored after the look-up, the head moves, so the commit fails. */
async function prepareWrite(
  { apiKeys, pets, runtime, store }: WritePetDeps,
  base: HeadEntry,
  inputs: WriteInputs,
): Promise<PreparedWrite> {
  const { head } = base;
  const { token, logged, petId, eventTimeMs } = inputs;
  // The API key must be valid now and at the time of the event, because the clock may have been set back.
  const apiKey = await apiKeys.authorize(token, head, Math.max(runtime.now(), eventTimeMs));
  expectMayWrite(apiKey);
  const actor = apiKey.id;
  const readPet = async () => petId === undefined ? undefined : await pets.getProven(petId, base);
  if (logged === undefined) return { actor, before: await readPet() };
  // 1. The pet is read first: if it shows that this very request has landed, the look-up finds the event.
  const [read] = await Promise.allSettled([readPet()]);
  // 2. An earlier event is the outcome, even if the pet cannot be read now. The age is measured at the time of the event,
  // so two events of one Idempotency-Key are a day apart.
  const use = { actor, idempotencyKey: logged, timeMs: eventTimeMs };
  const earlier = await findEarlierEvent(store, head, use);
  if (earlier !== undefined) return { actor, earlier: earlier as PetEvent };
  // 3. Only a request without an earlier event fails because of the pet.
  if (read.status === "rejected") throw read.reason;
  return { actor, before: read.value };
}
