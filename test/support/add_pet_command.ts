import type { EventMetadata, Head } from "../../src/eventstore_less/definitions.ts";
import type { EventBody } from "eventstore-less/application";
import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import type { NewPet, Pet } from "../../events/pet.ts";
import type { Command } from "../../src/eventstore_less/append/command.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";

/** A command that appends the creation of a pet, without a request. */
export function addPetCommand(runtime: Runtime, actor: string, pet: NewPet): Command {
  return command(runtime, actor, (head) => {
    return { type: "PetCreated", data: { id: lastPetIdOf(head) + 1, ...pet } };
  });
}

/** A command that appends the sale of an available pet, without a request. The pet has one event, at `predecessor`. */
export function sellPetCommand(
  runtime: Runtime,
  actor: string,
  pet: Pet,
  predecessor: number,
): Command {
  const data = { ...pet, status: "sold", previous: { status: "available" } } as const;
  return command(runtime, actor, () => ({ type: "PetUpdated", data, predecessor }));
}

type Decided = EventBody & Pick<EventMetadata, "predecessor">;

function command(runtime: Runtime, actor: string, decide: (head: Head) => Decided): Command {
  const metadata = { id: runtime.newId(), time: new Date(runtime.now()).toISOString(), actor };
  return { prepare: () => {}, decide: (head) => [{ ...metadata, ...decide(head) }] };
}
