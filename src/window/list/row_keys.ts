/** The keys that edit and remove the focused animal or the one whose page is shown, and that remove the selected ones. */

import type { Pet } from "../../../events/pet.ts";
import { openEditDialog } from "../animal/animal_dialog.tsx";
import { removeOrAsk } from "../animal/change_animal.tsx";
import { askToRemoveAll, progress } from "../animal/change_animals.tsx";
import { isRemoved, petOf } from "../data/animals.ts";
import { mayWrite } from "../data/key_info.ts";
import { isLoadingWhole, selectedIds, selectedPets } from "../data/selection.ts";
import { focusedId } from "./animal_list.tsx";
import { animalId, isListShown } from "../navigation/navigation.ts";

export function editFocused(): void {
  const pet = focusedPet();
  if (mayWrite.value && pet !== undefined) openEditDialog(pet);
}

/** Removes the selected animals, after the question of their button, or else the animal in the row. */
export function removeSelectedOrFocused(): void {
  const pet = focusedPet();
  const isBusy = isLoadingWhole.value || progress.value !== undefined;
  if (!mayWrite.value || isBusy) return;
  if (isListShown.value && selectedIds.value.size > 0) askToRemoveAll(selectedPets());
  else if (pet !== undefined) removeOrAsk(pet);
}

function focusedPet(): Pet | undefined {
  const id = animalId.value ?? focusedId();
  return id === undefined || isRemoved(id) ? undefined : petOf(id);
}
