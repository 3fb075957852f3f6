import type { EventMetadata } from "../../events/event.ts";
import { encodePet, type NewPet, type Pet } from "../../events/pet.ts";
import { ServiceError } from "../service_error.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Appender } from "../append/appender.ts";
import type { Command } from "../append/command.ts";
import type { Head } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import type { ApiKey } from "../log/api_keys.ts";
import type { ApiKeyReader } from "../projections/api_key_reader.ts";
import type { PetReader } from "../projections/pet_reader.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import type { SingleFlight } from "./single_flight.ts";

export interface CreatePetDeps {
  appender: Appender;
  creations: SingleFlight;
  heads: HeadReader;
  runtime: Runtime;
  keys: ApiKeyReader;
  pets: PetReader;
}

export interface CreatePetRequest {
  pet: NewPet;
  /** The text of the API key. */
  token: string;
  /** Identifies repeats of the same request. */
  idempotencyKey?: string;
}

export interface CreatedPet {
  pet: Pet;
  /** Whether an earlier request with the same Idempotency-Key added the pet. */
  isDuplicate: boolean;
}

/**
 * Adds a pet on behalf of an API key and resolves to the pet. The API key is checked as of exactly the head
 * that the commit replaces, so a revoked key never adds a pet. If the Idempotency-Key already added a pet,
 * nothing is added and that pet is returned. Rejects with the errors of {@linkcode Appender.append},
 * `invalid_credentials`, `read_only_key` and `idempotency_key_reused`.
 */
export async function createPet(
  deps: CreatePetDeps,
  request: CreatePetRequest,
): Promise<CreatedPet> {
  const { pet, token, idempotencyKey } = request;
  let isNew = false;
  const append = async () => {
    const command = new CreatePet(deps, request);
    const [event] = await deps.appender.append(command);
    isNew = event !== undefined;
    return event === undefined ? command.earlierPetId! : (event.data as Pet).id;
  };
  const id = idempotencyKey === undefined
    ? await append()
    : await deps.creations.share(`${token} ${idempotencyKey}`, append);
  const created: Pet = { id, ...pet };
  if (!isNew) await verifyDuplicate(deps, created, token);
  return { pet: created, isDuplicate: !isNew };
}

/** Throws `read_only_key` if the key must not add pets. */
export function expectMayAdd(key: ApiKey): void {
  if (!key.isReadOnly) return;
  throw new ServiceError(
    "read_only_key",
    "The API key may only read: use a key that may add animals",
  );
}

/**
 * Checks a request that committed nothing. Its API key must still be live, because no commit has checked it.
 * The earlier request must have been for the same pet.
 */
async function verifyDuplicate(
  { heads, runtime, keys, pets }: CreatePetDeps,
  pet: Pet,
  token: string,
): Promise<void> {
  const earlier = await heads.use(async (head) => {
    await keys.authorize(token, head, runtime.now());
    return await pets.get(pet.id, head);
  });
  if (earlier === encodePet(pet)) return;
  throw new ServiceError(
    "idempotency_key_reused",
    "The Idempotency-Key was sent with another animal before; nothing was added",
  );
}

class CreatePet implements Command {
  /** The pet that the Idempotency-Key added earlier, as of the head of the last prepare(). */
  earlierPetId: number | undefined;
  #deps: CreatePetDeps;
  #request: CreatePetRequest;
  #eventTimeMs: number;
  #metadata: EventMetadata;

  constructor(deps: CreatePetDeps, request: CreatePetRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#eventTimeMs = deps.runtime.now();
    const { idempotencyKey } = request;
    this.#metadata = {
      id: deps.runtime.newId(),
      time: new Date(this.#eventTimeMs).toISOString(),
      actor: "",
      ...(idempotencyKey === undefined ? {} : { idempotencyKey: sha256Hex(idempotencyKey) }),
    };
  }

  /**
   * Checks the API key, and finds a pet that the same Idempotency-Key added earlier. On this instance,
   * `creations` runs one such request at a time. Another instance that adds such a pet moves the head. So the
   * pet is either found here, or the commit on this head fails.
   */
  async prepare(head: Head): Promise<void> {
    const { runtime, keys, pets } = this.#deps;
    // The clock may have been set back. At the time of the event, the key must be valid too.
    const now = Math.max(runtime.now(), this.#eventTimeMs);
    const key = await keys.authorize(this.#request.token, head, now);
    expectMayAdd(key);
    this.#metadata.actor = key.id;
    const { idempotencyKey: hash } = this.#metadata;
    if (hash === undefined) return;
    // The age is measured at the time of the event, so two events of one Idempotency-Key are a day apart.
    this.earlierPetId = await pets.findByIdempotencyKey(key.id, hash, head, this.#eventTimeMs);
  }

  decide({ lastPetId }: Head) {
    if (this.earlierPetId !== undefined) return [];
    const data: Pet = { id: lastPetId + 1, ...this.#request.pet };
    return [{ ...this.#metadata, type: "PetCreated" as const, data }];
  }
}
