/** The lines of the events of one pet, newest first, along the predecessors that they name: one read of the log for each. */

import type { Head, RecordedLine } from "eventstore-less/definitions";
import { encodePet, type Pet } from "../../events/pet.ts";
import { petAfter, petBefore } from "../../events/pet_event.ts";
import { feedPositionOf } from "eventstore-less/feed";
import { readProof } from "eventstore-less/projections";
import { ServiceError } from "eventstore-less/errors";
import type { Store } from "eventstore-less/store";
import { sha256Hex } from "../encoding/sha256.ts";
import { commandName } from "../runtime/command_name.ts";
import { isPetEvent, type PetEvent } from "./pet_event.ts";
import { damagedPetError, type PetRecord } from "./pet_records.ts";

/** A line of the log with an event of a pet. */
export interface PetLine extends RecordedLine {
  event: PetEvent;
  /** The id of the event in the feed. */
  id: string;
}

/** The line that the record of a pet names. Rejects with `projection_damaged` unless it made the pet as it is. */
export async function lastLineOf(store: Store, head: Head, pet: PetRecord): Promise<PetLine> {
  const line = petLineOf(await readProof(store, pet.position), pet.id);
  if (line !== undefined && textOf(petAfter(line.event)) === pet.text) return line;
  throw damagedPetError(pet.id, head, "does not follow from its event");
}

/**
 * The line of the event before; `undefined` if a line names none, because its event is the first one, or because it was
 * written before format 6. Rejects with `projection_damaged` unless that event left the pet as the later one found it.
 */
export async function lineBefore(store: Store, later: PetLine): Promise<PetLine | undefined> {
  const { data, position, predecessor } = later.event;
  if (predecessor === undefined) return undefined;
  const line = petLineOf(await readProof(store, predecessor), data.id);
  const before = textOf(petBefore(later.event));
  const isBefore = line !== undefined && before !== undefined &&
    textOf(petAfter(line.event)) === before;
  if (isBefore) return line;
  const message = `The event at position ${position} does not follow from the one at position ` +
    `${predecessor}, which it names`;
  throw new ServiceError("projection_damaged", message, { cause: `run ${commandName("audit")}` });
}

/** The line with that id in the feed, up to a head; `undefined` unless it has an event of the pet. */
export async function petLineAt(
  store: Store,
  head: Head,
  id: string,
  petId: number,
): Promise<PetLine | undefined> {
  const position = parseInt(id);
  if (position < 1 || position > head.position) return undefined;
  const line = petLineOf(await readProof(store, position), petId);
  return line?.id === id ? line : undefined;
}

/** The line as one of the pet; `undefined` if it has another event. */
function petLineOf({ event, line }: RecordedLine, petId: number): PetLine | undefined {
  if (!isPetEvent(event) || event.data.id !== petId) return undefined;
  const { id } = feedPositionOf({ position: event.position, lastHash: sha256Hex(line) });
  return { event, line, id };
}

/** The text of a pet; `undefined` if there is none. */
function textOf(pet: Pet | undefined): string | undefined {
  return pet && encodePet(pet);
}
