import type { NewPet } from "../../events/pet.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { createService } from "../../src/service.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { addPetCommand } from "./add_pet_command.ts";
import { openRealStore } from "./real_store.ts";

const STATUSES = ["available", "pending", "sold", undefined] as const;

/** Number of concurrent additions: more than fit into a commit. */
const WAVE = 1_000;

/**
 * Adds pets to a store with the service's appender until it has that many, and issues a key. Resolves to its
 * token.
 */
export async function fillStore(path: string, pets: number): Promise<string> {
  const store = await openRealStore(path);
  const runtime = systemRuntime;
  const service = createService({ store, runtime, report: () => {}, isDurable: true });
  try {
    const { id: actor, token } = await issueKey(service, { label: "bench" });
    const { head } = await service.heads.fresh();
    for (let id = head.lastPetId + 1; id <= pets; id += WAVE) {
      const wave = Math.min(WAVE, pets - id + 1);
      await Promise.all(Array.from({ length: wave }, (_, index) => {
        return service.appender.append(addPetCommand(runtime, actor, examplePet(id + index)));
      }));
    }
    return token;
  } finally {
    await service.appender.drain();
    store.close();
  }
}

export function examplePet(number: number): NewPet {
  const status = STATUSES[number % STATUSES.length];
  const pet = { name: `Animal number ${number}`, categoryId: BigInt(number % 100) };
  return status === undefined ? pet : { ...pet, status };
}
