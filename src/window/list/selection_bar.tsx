/** The buttons for the selected animals, and the progress of their work. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { hasMore, loadedCount } from "../data/animals.ts";
import { askToRemoveAll, changeStatus, progress, stop } from "../animal/change_animals.tsx";
import { countOfList } from "../data/counts.ts";
import { grouped } from "../parts/count_words.ts";
import { exportSelected } from "./export_animals.ts";
import { STATUS_CHOICES, statusOf } from "../data/fields.ts";
import { restoreFocus } from "../parts/focus.ts";
import { dottedChoice } from "../animal/field_views.tsx";
import { Icon } from "../parts/icon.tsx";
import { mayWrite } from "../data/key_info.ts";
import { Menu } from "../parts/menu.tsx";
import { openMoveDialog } from "../animal/move_dialog.tsx";
import { isListShown } from "../navigation/navigation.ts";
import {
  clearSelection,
  isAllSelected,
  isLoadingWhole,
  selectedIds,
  selectedPets,
  selectWhole,
  stopSelecting,
} from "../data/selection.ts";

export function SelectionBar(): JSX.Element | null {
  if (progress.value !== undefined) return <Progress />;
  const isShown = isListShown.value && selectedIds.value.size > 0;
  return isShown ? <SelectedActions /> : null;
}

function SelectedActions(): JSX.Element {
  const isWaiting = isLoadingWhole.value;
  const isPart = !isAllSelected.value || hasMore.value;
  // The button for all is gone then, or the bar.
  useEffect(() => restoreFocus, [isPart]);
  return (
    <div class="selection" role="group" aria-label="Selected animals">
      <p role="status">
        <b>
          {isWaiting ? `Selecting all ${total()} …` : `${grouped(selectedIds.value.size)} selected`}
        </b>
      </p>
      {isWaiting && <Loaded />}
      {isPart && (
        <button type="button" class="quiet" onClick={isWaiting ? stopSelecting : selectWhole}>
          {isWaiting ? "Stop" : `Select all ${total()}`}
        </button>
      )}
      <div class="line">
        {mayWrite.value && (
          <>
            <Menu class="" title="Mark as" label="Mark as" button="Mark as" disabled={isWaiting}>
              <p class="title narrow">Mark as</p>
              {STATUS_CHOICES.map(dottedChoice).map(({ text, drawn }) => (
                <button
                  key={text}
                  type="button"
                  onClick={() => changeStatus(selectedPets(), statusOf(text))}
                >
                  {drawn}
                </button>
              ))}
            </Menu>
            <button
              type="button"
              title="Move to a category"
              disabled={isWaiting}
              onClick={() => openMoveDialog(selectedPets())}
            >
              Move to
            </button>
            <button
              type="button"
              disabled={isWaiting}
              onClick={() => askToRemoveAll(selectedPets())}
            >
              Remove
            </button>
          </>
        )}
        <button
          type="button"
          disabled={isWaiting}
          onClick={() => exportSelected(selectedPets())}
        >
          Export
        </button>
      </div>
      <button type="button" class="quiet" title="Clear" aria-label="Clear" onClick={clearSelection}>
        <Icon name="close" />
      </button>
    </div>
  );
}

function total(): string {
  const { value } = countOfList;
  return value === undefined ? "of them" : grouped(value);
}

/** How far the list is loaded, if anybody knows how long it is. */
function Loaded(): JSX.Element {
  const max = countOfList.value;
  const value = max === undefined ? undefined : loadedCount.value;
  return <progress aria-label="Loaded" max={max} value={value}></progress>;
}

function Progress(): JSX.Element {
  const { words, done, total } = progress.value!;
  return (
    <div class="selection" role="group" aria-label={`${words} animals`}>
      <p role="status">
        <b>{words} {grouped(done)} of {grouped(total)}</b>
      </p>
      <progress aria-label={words} max={total} value={done}></progress>
      <button type="button" onClick={stop}>Stop</button>
    </div>
  );
}
