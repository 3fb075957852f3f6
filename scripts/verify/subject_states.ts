import { DigestTable } from "./digest_table.ts";

const NO_TEXT = new Uint8Array();

/**
 * Each pet that the lines so far have added: its text or its removal, and the position of its last event. Takes 16 bytes
 * for each pet, because a log may have millions of them.
 */
export class PetStates {
  /** The value of a pet is the position of its last event; minus the position if that event removed the pet. */
  #table = new DigestTable();

  setPresent(id: number, text: Uint8Array, position: number): void {
    this.#table.set(id, text, position);
  }

  setRemoved(id: number, position: number): void {
    this.#table.set(id, NO_TEXT, -position);
  }

  isRemoved(id: number): boolean {
    return this.#table.valueAt(id) < 0;
  }

  /** Whether the pet was not removed, and has that text. */
  hasText(id: number, text: Uint8Array): boolean {
    return this.#table.has(id, text);
  }

  /** The position of the last event of the pet, which may be its removal; 0 if no event is known. */
  lastPositionOf(id: number): number {
    return Math.abs(this.#table.valueAt(id));
  }

  /** Forgets all pets. */
  clear(): void {
    this.#table.clear();
  }
}
