import { sha256Start } from "../encoding/sha256.ts";
import { PET_LISTS } from "../keyspace.ts";
import { DigestTable } from "./digest_table.ts";

/** Remembers in 8 bytes how each pet is: its list, and a digest of its text. */
export class PetTable {
  #table = new DigestTable();

  set(id: number, list: string, text: string): void {
    this.#table.set(id, codeOf(list), sha256Start(text));
  }

  /** The list of a pet; `undefined` if the pet is not known. */
  listOf(id: number): string | undefined {
    return PET_LISTS[this.#table.codeOf(id) - 1];
  }

  /** Whether the pet has that text, which may be in UTF-8, and is in that list. */
  has(id: number, list: string, text: Uint8Array | string): boolean {
    return this.#table.has(id, codeOf(list), sha256Start(text));
  }

  clear(): void {
    this.#table.clear();
  }
}

function codeOf(list: string): number {
  return PET_LISTS.indexOf(list) + 1;
}
