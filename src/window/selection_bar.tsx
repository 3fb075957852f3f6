/** The buttons for the selected animals, and the progress of their work. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { hasMore } from "./animals.ts";
import { askToRemoveAll, changeStatus, progress, stop } from "./change_animals.tsx";
import { exportSelected } from "./export_animals.ts";
import { STATUS_CHOICES, statusOf } from "./fields.tsx";
import { restoreFocus } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { mayWrite } from "./key_info.ts";
import { animalId } from "./navigation.ts";
import { Select } from "./select.tsx";
import {
  clearSelection,
  isAllSelected,
  selectableCount,
  selectAll,
  selectedIds,
  selectedPets,
} from "./selection.ts";

export function SelectionBar(): JSX.Element | null {
  if (progress.value !== undefined) return <Progress />;
  const isShown = animalId.value === undefined && selectedIds.value.size > 0;
  return isShown ? <Actions /> : null;
}

function Actions(): JSX.Element {
  useEffect(() => restoreFocus, []);
  const count = selectedIds.value.size;
  const all = selectableCount.value.toLocaleString("en");
  return (
    <div class="selection" role="group" aria-label="Selected animals">
      <p role="status">
        <b>{countWords(count)}</b>
      </p>
      <div class="line">
        {mayWrite.value && (
          <>
            <Select
              aria-label="Mark as"
              choices={STATUS_CHOICES}
              text={undefined}
              onText={(text) => changeStatus(selectedPets(), statusOf(text))}
            >
              Mark as
            </Select>
            <button type="button" onClick={() => askToRemoveAll(selectedPets())}>Remove</button>
          </>
        )}
        <button type="button" onClick={() => exportSelected(selectedPets())}>Export</button>
        {!isAllSelected.value && (
          <button type="button" class="narrow" onClick={selectAll}>Select all {all}</button>
        )}
      </div>
      <button type="button" class="quiet" title="Clear" aria-label="Clear" onClick={clearSelection}>
        <Icon name="close" />
      </button>
    </div>
  );
}

/** The list may have animals that are not loaded, which nobody can select. */
function countWords(count: number): string {
  const isPart = isAllSelected.value && hasMore.value;
  return isPart
    ? `${count.toLocaleString("en")} loaded animals selected`
    : `${count.toLocaleString("en")} selected`;
}

function Progress(): JSX.Element {
  const { words, done, total } = progress.value!;
  return (
    <div class="selection" role="group" aria-label={`${words} animals`}>
      <p role="status">
        <b>{words} {done.toLocaleString("en")} of {total.toLocaleString("en")}</b>
      </p>
      <progress aria-label={words} max={total} value={done}></progress>
      <button type="button" onClick={stop}>Stop</button>
    </div>
  );
}
