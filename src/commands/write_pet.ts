/** The commands of clients: they add, change or remove a pet, on behalf of an API key, once for each Idempotency-Key. */

import { type EventBody, type EventMetadata, petAfter, type PetEvent } from "../../events/event.ts";
import {
  encodePet,
  type NewPet,
  patchPet,
  type Pet,
  type PetPatch,
  reversePatch,
} from "../../events/pet.ts";
import { petSubject } from "../../events/subject.ts";
import type { Appender } from "../append/appender.ts";
import type { Command } from "../append/command.ts";
import { hmacSha256Hex } from "../encoding/sha256.ts";
import { eventByIdempotencyKeyKey, projectionKey } from "../keyspace.ts";
import type { ApiKey } from "../log/api_keys.ts";
import { type Head, type HeadEntry, lastPetIdOf } from "../log/head.ts";
import type { ApiKeyReader } from "../keys/api_key_reader.ts";
import { decodeRecord, proveRecord } from "../projections/project.ts";
import type { PetReader } from "../projections/pet_reader.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { ServiceError } from "../service_error.ts";
import type { Store } from "../store/store.ts";

export interface WritePetDeps {
  appender: Appender;
  runtime: Runtime;
  keys: ApiKeyReader;
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

/** The rule of a request: at most one event, decided on the state of a head. */
interface Rule extends Pick<Command, "subject"> {
  prepare?(base: HeadEntry): Promise<void>;
  /** Throws, as prepare() rejects, if the request must be refused. */
  decide(head: Pick<Head, "types">, last?: PetEvent): DecidedPetEvent | undefined;
  /** Whether an earlier event with the same Idempotency-Key is the outcome of the same request. */
  isOutcome(event: PetEventBody): boolean;
}

type PetEventBody = Extract<EventBody, { type: PetEvent["type"] }>;
type DecidedPetEvent = PetEventBody & Pick<EventMetadata, "predecessor">;

/** Rejects as {@linkcode Appender.append}, or with `invalid_credentials`, `read_only_key`, `idempotency_key_reused`. */
export async function createPet(deps: WritePetDeps, request: WritePetRequest & { pet: NewPet }) {
  return (await writePet(deps, request, additionRule(request.pet)))!;
}

export function additionRule(pet: NewPet): Rule {
  const petOf = (id: number): Pet => ({ id, ...pet });
  return {
    decide: (head) => ({ type: "PetCreated", data: petOf(lastPetIdOf(head) + 1) }),
    isOutcome: ({ type, data }) =>
      type === "PetCreated" && encodePet(data) === encodePet(petOf(data.id)),
  };
}

/** Appends nothing if nothing changes. Rejects as createPet(), or with `pet_not_found` or `precondition_failed`. */
export async function updatePet(deps: WritePetDeps, request: UpdatePetRequest) {
  const rule = changeRule(deps, request);
  const written = await writePet(deps, request, rule);
  return written ?? { id: request.petId, text: rule.text(), isDuplicate: false };
}

export function changeRule(
  deps: ProvenPets,
  { patch, ...target }: Omit<UpdatePetRequest, "token">,
): Rule & { text(): string } {
  const decide = (before: Pet): PetEventBody | undefined => {
    const after = patchPet(before, patch);
    const previous = reversePatch(before, after);
    if (Object.keys(previous).length === 0) return undefined;
    return { type: "PetUpdated", data: { ...after, previous } };
  };
  const isOutcome: Rule["isOutcome"] = ({ type, data }) =>
    type === "PetUpdated" && encodePet(patchPet(data, patch)) === encodePet(data) &&
    Object.keys(data.previous).every((name) => Object.hasOwn(patch, name));
  return ruleOf(deps, target, decide, isOutcome);
}

/** Rejects as updatePet(). */
export async function removePet(deps: WritePetDeps, request: RemovePetRequest) {
  return (await writePet(deps, request, removalRule(deps, request)))!;
}

export function removalRule(deps: ProvenPets, target: Omit<RemovePetRequest, "token">): Rule {
  const decide = (data: Pet) => ({ type: "PetRemoved", data } as const);
  return ruleOf(deps, target, decide, ({ type }) => type === "PetRemoved");
}

type ProvenPets = {
  pets: { getProven(id: number, base: HeadEntry): Promise<PetEvent | undefined> };
};

/** A rule for a pet that must exist. `text()` is that of the pet as of the last prepare(). */
function ruleOf(
  { pets }: ProvenPets,
  { petId, isExpected = () => true }: Omit<RemovePetRequest, "token">,
  decide: (before: Pet) => PetEventBody | undefined,
  isOutcome: Rule["isOutcome"],
): Rule & { text(): string } {
  const expectPet = (event: PetEvent | undefined): Pet => {
    const pet = event && petAfter(event);
    if (pet !== undefined) return pet;
    throw new ServiceError("pet_not_found", "An animal with this identifier does not exist");
  };
  /** The event that made the pet as it is at the head of the last prepare(). */
  let prepared: PetEvent | undefined;
  return {
    subject: petSubject(petId),
    text: () => encodePet(expectPet(prepared)),
    async prepare(base) {
      prepared = await pets.getProven(petId, base);
      expectPet(prepared);
    },
    decide(_head, last = prepared) {
      const before = expectPet(last);
      if (!isExpected(encodePet(before))) {
        const message =
          "The animal has changed since you read it: read it again; a weak ETag (W/) never matches";
        throw new ServiceError("precondition_failed", message);
      }
      const body = decide(before);
      return body && { ...body, predecessor: last!.position };
    },
    isOutcome: (event) => event.data.id === petId && isOutcome(event),
  };
}

/**
 * The key and the rule are checked as of exactly the head that the commit replaces, so a revoked key never writes. If
 * the Idempotency-Key has caused an event before, nothing is appended: the outcome is the pet as it was after that.
 */
async function writePet(
  { appender, runtime, keys, store }: WritePetDeps,
  { token, idempotencyKey }: WritePetRequest,
  rule: Rule,
): Promise<WrittenPet | undefined> {
  const eventTimeMs = runtime.now();
  // Nobody can guess it from a published log, because the token is secret.
  const logged = idempotencyKey === undefined ? undefined : hmacSha256Hex(token, idempotencyKey);
  const metadata: EventMetadata = {
    id: runtime.newId(),
    time: new Date(eventTimeMs).toISOString(),
    actor: "",
    ...(logged === undefined ? {} : { idempotencyKey: logged }),
  };
  const command: Command & { earlier?: PetEvent } = {
    subject: rule.subject,
    idempotencyKey: logged,
    /** If an event of this Idempotency-Key is stored after the look-up, the head moves, so this commit fails. */
    async prepare(base) {
      const { head } = base;
      // The API key must be valid now and at the time of the event, because the clock may have been set back.
      const key = await keys.authorize(token, head, Math.max(runtime.now(), eventTimeMs));
      expectMayWrite(key);
      metadata.actor = key.id;
      // The rule reads before the look-up: if it sees that this very request has landed, the look-up finds the event.
      const [prepared] = await Promise.allSettled([rule.prepare?.(base)]);
      if (logged !== undefined) {
        // The age is measured at the time of the event, so two events of one Idempotency-Key are a day apart.
        this.earlier = await findEarlier(store, head, key.id, logged, eventTimeMs);
      }
      if (this.earlier === undefined && prepared.status === "rejected") throw prepared.reason;
    },
    decide(head, last) {
      const decided = this.earlier === undefined
        ? rule.decide(head, last as PetEvent | undefined)
        : undefined;
      return decided === undefined ? [] : [{ ...metadata, ...decided }];
    },
  };
  const [appended] = await appender.append(command);
  const { earlier } = command;
  if (earlier !== undefined && !rule.isOutcome(earlier)) {
    const message = "The Idempotency-Key was sent with another request before; nothing was stored";
    throw new ServiceError("idempotency_key_reused", message);
  }
  const event = earlier ?? appended as PetEvent | undefined;
  if (event === undefined) return undefined;
  return { id: event.data.id, text: encodePet(event.data), isDuplicate: event === earlier };
}

/** Throws `read_only_key` if the key must not write. */
export function expectMayWrite({ isReadOnly }: ApiKey): void {
  const message = "The API key may only read: use a key that may write";
  if (isReadOnly) throw new ServiceError("read_only_key", message);
}

/** The event that a key caused with an Idempotency-Key, unless expired. May or may not find one after that head. */
async function findEarlier(
  store: Store,
  { generation }: Head,
  actor: string,
  logged: string,
  now: number,
): Promise<PetEvent | undefined> {
  const prefix = projectionKey(generation, eventByIdempotencyKeyKey(actor, logged));
  const [entry] = await store.list({ prefix }, { limit: 1, reverse: true });
  // The store keeps a record for some time after it expires.
  if (entry === undefined || Date.parse(decodeRecord(entry).expiresAt) <= now) return undefined;
  return await proveRecord(store, entry, entry.key.at(-1) as number) as PetEvent;
}
