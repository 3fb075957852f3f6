import type { History, RecordedLine, SubjectState } from "eventstore-less/definitions.ts";
import { assertNever } from "../encoding/assert_never.ts";
import { encodePet, patchPet, type Pet } from "../../events/pet.ts";
import type { PetUpdatedData } from "../../events/pet_event.ts";
import { isPetEvent } from "./pet_event.ts";
import { petContentOf, petTextOf, removalContentOf } from "./pet_content.ts";
import { petKey, petListOf, removedPetKey } from "./pet_keys.ts";

const encoder = new TextEncoder();

/** The rules of the history of animals: each addition has the next id, and each other event continues from its animal. */
export class PetHistory implements History {
  /** `undefined` after lines that are missing or could not be read. */
  #lastPetId: number | undefined = 0;
  /** Whether every line so far could be read. Only then was an unknown pet not added. */
  #isComplete = true;

  check(recorded: RecordedLine, subject: SubjectState): string[] {
    const { event } = recorded;
    if (!isPetEvent(event)) return [];
    switch (event.type) {
      case "PetCreated":
        return this.#checkAddition(event.data);
      case "PetUpdated":
        return this.#checkChange(event.data, subject);
      case "PetRemoved":
        return this.#checkBefore("removes", event.data, petTextOf(recorded), subject);
      default:
        return assertNever(event);
    }
  }

  lose(): void {
    this.#lastPetId = undefined;
    this.#isComplete = false;
  }

  /** Names the ids that the service can give again. */
  consequencesOfCut(longer: this): string[] {
    const first = (this.#lastPetId ?? 0) + 1;
    const last = longer.#lastPetId;
    if (last !== undefined && last < first) return [];
    const end = last === undefined ? "on" : `to ${last}`;
    return [`New animals get the ids from ${first} ${end} a second time.`];
  }

  #checkAddition({ id }: Pet): string[] {
    const expected = this.#lastPetId === undefined ? id : this.#lastPetId + 1;
    this.#lastPetId = id;
    return id === expected ? [] : [`it adds pet ${id}, but pet ${expected} was expected`];
  }

  /** Checks that the pet was before as the change says, and differs from it now in each former value. */
  #checkChange(pet: PetUpdatedData, subject: SubjectState): string[] {
    const { previous } = pet;
    const before = patchPet(pet, previous);
    const textBefore = encoder.encode(encodePet(before));
    const faults = this.#checkBefore("changes", before, textBefore, subject);
    const names = Object.keys(previous) as (keyof Pet)[];
    const unchanged = names.filter((name) => before[name] === pet[name]);
    if (unchanged.length === 0) return faults;
    return [...faults, `its previous names ${unchanged.join(", ")}, but did not change it`];
  }

  /** Checks that the pet is there after the lines so far, as it was before, with that text. */
  #checkBefore(
    does: "changes" | "removes",
    { id, status }: Pet,
    textBefore: Uint8Array,
    { position, hasRecord }: SubjectState,
  ): string[] {
    if (position === 0) {
      return this.#isComplete ? [`it ${does} pet ${id}, which was not added before`] : [];
    }
    if (hasRecord(removedPetKey(id), removalContentOf(position))) {
      return [`it ${does} pet ${id}, which was removed before`];
    }
    const keyBefore = petKey(petListOf(status), id);
    if (hasRecord(keyBefore, petContentOf(position, textBefore))) return [];
    const member = does === "changes" ? "previous" : "data";
    return [`its ${member} does not match pet ${id} as it was before`];
  }
}
