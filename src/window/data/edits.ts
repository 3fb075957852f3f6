/**
 * The animals whose rows are edited. Typed text stays, even if others change the animal or the list shows other
 * animals.
 */

import { signal } from "@preact/signals";
import type { Pet } from "../../../events/pet.ts";
import type { Faults, Texts } from "./fields.ts";

export interface Edit {
  /** The animal as the reader knows it. */
  base: Pet;
  /** The texts that the reader has typed. */
  texts: Texts;
  faults: Faults;
  /** Whether the edit is being written. */
  isSaving: boolean;
  /** The animal as somebody else has made it meanwhile, if the reader was told and keeps editing. */
  theirs: Pet | undefined;
}

/** Edits by the ids of their animals. The map is replaced after each change. */
export const edits = signal<ReadonlyMap<number, Edit>>(new Map());

export function setEdit(id: number, edit: Edit): void {
  edits.value = new Map(edits.value).set(id, edit);
}

/** Changes an edit, unless it has ended. */
export function changeEdit(id: number, change: Partial<Edit>): void {
  const edit = edits.value.get(id);
  if (edit !== undefined) setEdit(id, { ...edit, ...change });
}

export function removeEdit(id: number): void {
  const others = new Map(edits.value);
  others.delete(id);
  edits.value = others;
}
