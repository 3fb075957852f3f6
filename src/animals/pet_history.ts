import type { History, SubjectState } from "eventstore-less";
import { sha256Hex } from "eventstore-less/parts";
import type { RecordedLine } from "../../events/all_events.ts";
import { encodePet, type FormerValues, type Pet } from "../../events/pet.ts";
import { petAfter, petBefore, type PetChange } from "../../events/pet_event.ts";
import { isPetEvent } from "./pet_event.ts";
import { petContentOf, removalContentOf } from "./pet_content.ts";
import { petKey, petListOf, removedPetKey } from "./pet_keys.ts";

/**
 * The rules of the history of animals: each addition has the next id, each other event continues from its animal, and a
 * restore brings back the animal that was removed.
 */
export class PetHistory implements History {
  /** `undefined` after lines that are missing or could not be read. */
  #lastPetId: number | undefined = 0;
  /** Whether every line so far could be read. Only then was an unknown pet not added. */
  #isComplete = true;
  /** The hashes of the texts of the removed pets, because the records of removals have only positions. */
  #removed = new Map<number, string>();

  check({ event }: RecordedLine, subject: SubjectState): string[] {
    if (!isPetEvent(event)) return [];
    if (event.type === "PetRestored") return this.#checkRestore(event.data, subject);
    const before = petBefore(event);
    if (before === undefined) return this.#checkAddition(event.data);
    const after = petAfter(event);
    if (after === undefined) {
      this.#removed.set(before.id, hashOf(before));
      return this.#checkBefore("removes", before, subject);
    }
    const faults = this.#checkBefore("changes", before, subject);
    return [...faults, ...faultsOfFormerValues(event.data as PetChange)];
  }

  lose(): void {
    this.#lastPetId = undefined;
    this.#isComplete = false;
    this.#removed.clear();
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

  /** Checks that the pet was removed, and is as it was before that. */
  #checkRestore(pet: Pet, { position, hasRecord }: SubjectState): string[] {
    const { id } = pet;
    const removed = this.#removed.get(id);
    this.#removed.delete(id);
    if (position === 0) {
      return this.#isComplete ? [`it restores pet ${id}, which was not added before`] : [];
    }
    if (!hasRecord(removedPetKey(id), removalContentOf(position))) {
      return [`it restores pet ${id}, which was not removed before`];
    }
    // The line of the removal may have been one of those that could not be read.
    if (removed === undefined || removed === hashOf(pet)) return [];
    return [`it restores pet ${id}, but not as it was before its removal`];
  }

  /** Checks that the pet is there after the lines so far, as it was before the event. */
  #checkBefore(
    does: "changes" | "removes",
    before: Pet,
    { position, hasRecord }: SubjectState,
  ): string[] {
    const { id, status } = before;
    if (position === 0) {
      return this.#isComplete ? [`it ${does} pet ${id}, which was not added before`] : [];
    }
    if (hasRecord(removedPetKey(id), removalContentOf(position))) {
      return [`it ${does} pet ${id}, which was removed before`];
    }
    const keyBefore = petKey(petListOf(status), id);
    if (hasRecord(keyBefore, petContentOf(position, before))) return [];
    const member = does === "changes" ? "previous" : "data";
    return [`its ${member} does not match pet ${id} as it was before`];
  }
}

function hashOf(pet: Pet): string {
  return sha256Hex(encodePet(pet));
}

/** Checks that the pet differs from each former value that a change names. */
function faultsOfFormerValues(pet: PetChange): string[] {
  const names = Object.keys(pet.previous) as (keyof FormerValues)[];
  const unchanged = names.filter((name) => (pet[name] ?? null) === pet.previous[name]);
  if (unchanged.length === 0) return [];
  return [`its previous names ${unchanged.join(", ")}, but did not change it`];
}
