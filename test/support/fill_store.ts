import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import type { NewPet } from "../../events/pet.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { addPetCommand } from "./add_pet_command.ts";
import { useRealStore } from "./real_store.ts";

const STATUSES = ["available", "pending", "sold", undefined] as const;

/** Number of concurrent commands: more than fit into a commit. */
const WAVE = 1_000;

/** Adds pets to a store with the service's appender until it has that many, and issues a key. Resolves to its token. */
export function fillStore(path: string, pets: number): Promise<string> {
  return useRealStore(path, async (service) => {
    const { runtime, appender } = service;
    const { id: actor, token } = await issueApiKey(service, { label: "bench" });
    const { head } = await service.heads.fresh();
    for (let first = lastPetIdOf(head) + 1; first <= pets; first += WAVE) {
      const wave = Array.from({ length: Math.min(WAVE, pets - first + 1) }, (_, index) => {
        return appender.append(addPetCommand(runtime, actor, examplePet(first + index)));
      });
      await Promise.all(wave);
    }
    return token;
  });
}

function examplePet(number: number): NewPet {
  const status = STATUSES[number % STATUSES.length];
  const pet = { name: `Animal number ${number}`, categoryId: BigInt(number % 100) };
  return status === undefined ? pet : { ...pet, status };
}
