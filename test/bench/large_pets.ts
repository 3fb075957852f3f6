import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { useRealStore } from "../support/real_store.ts";

/** Number of pets whose texts have 3 KB, so that a page of 100 has 300 KB. */
export const LARGE_PETS = 2_000;

/** Number of concurrent commands. */
const WAVE = 100;

/** Adds large pets to a store, as its newest ones, and issues a key. Resolves to its token and the id of the last pet. */
export function addLargePets(path: string): Promise<{ token: string; lastPet: number }> {
  return useRealStore(path, async (service) => {
    const { appender, heads, runtime } = service;
    const { id: actor, token } = await issueApiKey(service, { label: "bench" });
    for (let added = 0; added < LARGE_PETS; added += WAVE) {
      const wave = Array.from({ length: WAVE }, () => {
        const pet = { name: longName(), categoryId: 1n, status: "available" } as const;
        return appender.append(addPetCommand(runtime, actor, pet));
      });
      await Promise.all(wave);
    }
    const { head } = await heads.fresh();
    return { token, lastPet: lastPetIdOf(head) };
  });
}

/** A name of 1,000 characters of three bytes each, which gzip makes a third as long. */
function longName(): string {
  return Array.from({ length: 1_000 }, () => String.fromCharCode(0x4e00 + Math.random() * 64))
    .join("");
}
