import type { NewPet } from "../../events/pet.ts";
import type { Command } from "../../src/append/command.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";

/** A command that appends the creation of a pet, without a request. */
export function addPetCommand(runtime: Runtime, actor: string, pet: NewPet): Command {
  const metadata = { id: runtime.newId(), time: new Date(runtime.now()).toISOString(), actor };
  return {
    prepare: () => {},
    decide: ({ lastPetId }) => [
      { ...metadata, type: "PetCreated", data: { id: lastPetId + 1, ...pet } },
    ],
  };
}
