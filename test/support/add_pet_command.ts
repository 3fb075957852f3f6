import type { EventBody } from "../../events/all_events.ts";
import type { Runtime } from "eventstore-less";
import type { NewPet } from "../../events/pet.ts";
import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import type { Command } from "../../src/eventstore_less/append/command.ts";

/** A command that appends the creation of a pet, without a request. */
export function addPetCommand(
  runtime: Runtime,
  actor: string,
  pet: NewPet,
): Command<unknown, EventBody> {
  const metadata = { id: runtime.newId(), time: new Date(runtime.now()).toISOString(), actor };
  return {
    prepare: () => {},
    decide(head) {
      const data = { id: lastPetIdOf(head) + 1, ...pet };
      return [{ ...metadata, type: "PetCreated", data }];
    },
  };
}
