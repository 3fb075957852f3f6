import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import type { NewPet } from "../../events/pet.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import type { Appended, Command } from "../../src/eventstore_less/append/command.ts";
import { addPetCommand, sellPetCommand } from "./add_pet_command.ts";
import { useRealStore } from "./real_store.ts";

const STATUSES = ["available", "pending", "sold", undefined] as const;

/** Number of concurrent commands: more than fit into a commit. */
const WAVE = 1_000;

/**
 * Adds pets to a store with the service's appender until it has that many, and issues a key. Resolves to its
 * token. If `soldShare` is given, all pets are added as available, and that share of them is then sold.
 */
export function fillStore(path: string, pets: number, soldShare?: number): Promise<string> {
  return useRealStore(path, async (service) => {
    const { runtime, appender } = service;
    const { id: actor, token } = await issueApiKey(service, { label: "bench" });
    const { head } = await service.heads.fresh();
    /** Positions of the additions, by the ids of the pets. */
    const positions: number[] = [];
    const notePosition = ({ events: [{ type, data, position }] }: Appended) => {
      if (type === "PetCreated") positions[data.id] = position;
    };
    const appendEach = async (commandFor: (id: number) => Command | undefined) => {
      for (let first = lastPetIdOf(head) + 1; first <= pets; first += WAVE) {
        const wave = Array.from({ length: Math.min(WAVE, pets - first + 1) }, (_, index) => {
          const command = commandFor(first + index);
          return command && appender.append(command).then(notePosition);
        });
        await Promise.all(wave);
      }
    };
    const petOf = (id: number) => examplePet(id, soldShare === undefined ? undefined : "available");
    await appendEach((id) => addPetCommand(runtime, actor, petOf(id)));
    if (soldShare !== undefined) {
      await appendEach((id) => {
        // Any thousand successive pets have each remainder once, in mixed order.
        const isSold = id * 379 % 1_000 < 1_000 * soldShare;
        if (!isSold) return undefined;
        return sellPetCommand(runtime, actor, { id, ...petOf(id) }, positions[id]);
      });
    }
    return token;
  });
}

function examplePet(number: number, status = STATUSES[number % STATUSES.length]): NewPet {
  const pet = { name: `Animal number ${number}`, categoryId: BigInt(number % 100) };
  return status === undefined ? pet : { ...pet, status };
}
