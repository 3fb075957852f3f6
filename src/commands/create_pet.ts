import type { LogEvent, Origin } from "../../events/event.ts";
import type { NewPet, Pet } from "../../events/pet.ts";
import type { Host } from "../host.ts";
import type { Appender, Command } from "../log/appender.ts";
import type { Head, HeadEntry } from "../log/head.ts";
import type { KeyReader } from "../projections/key_reader.ts";

export interface CreatePetParts {
  appender: Appender;
  host: Host;
  keys: KeyReader;
}

/**
 * Adds a pet on behalf of an API key, and resolves to it. The key is looked at as of the very head
 * that the commit replaces, so a pet is never added with a key that no longer stood. Rejects with the
 * failures of {@linkcode Appender.append} and `invalid_credentials`.
 */
export async function createPet(parts: CreatePetParts, pet: NewPet, token: string): Promise<Pet> {
  const [event] = await parts.appender.append(new CreatePet(parts, pet, token));
  return (event as LogEvent & { type: "PetCreated" }).data;
}

class CreatePet implements Command {
  #parts: CreatePetParts;
  #pet: NewPet;
  #token: string;
  #origin: Origin;

  constructor(parts: CreatePetParts, pet: NewPet, token: string) {
    this.#parts = parts;
    this.#pet = pet;
    this.#token = token;
    const time = new Date(parts.host.now()).toISOString();
    this.#origin = { id: parts.host.newId(), time, actor: "" };
  }

  prepare({ head }: HeadEntry): Promise<void> | void {
    const { host, keys } = this.#parts;
    const key = keys.authorize(this.#token, head, host.now());
    if (key instanceof Promise) return key.then(({ id }) => void (this.#origin.actor = id));
    this.#origin.actor = key.id;
  }

  decide({ lastPetId }: Head) {
    const data: Pet = { id: lastPetId + 1, ...this.#pet };
    return [{ ...this.#origin, type: "PetCreated" as const, data }];
  }
}
