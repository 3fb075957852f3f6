/** The keys that work anywhere on the page, and the help that names them. */

import { openAddDialog } from "./animal/animal_dialog.tsx";
import { Dialog, openDialog } from "./parts/dialog.tsx";
import { latinKey } from "./parts/keys.ts";
import { editFocused, removeSelectedOrFocused } from "./list/row_keys.ts";
import { focusSearch } from "./list/toolbar.tsx";
import { usePageKeys } from "./parts/page_keys.ts";
import { mayWrite } from "./data/key_info.ts";

interface Shortcut {
  keys: string;
  what: string;
  /** `undefined` if a part of the page handles the keys. */
  run?: () => void;
}

const SHORTCUTS: readonly Shortcut[] = [
  { keys: "/", what: "Search by name, note or id", run: focusSearch },
  { keys: "n", what: "Add an animal", run: () => mayWrite.value && openAddDialog() },
  { keys: "e", what: "Edit an animal", run: editFocused },
  {
    keys: "Delete",
    what: "Remove an animal, or the selected ones",
    run: removeSelectedOrFocused,
  },
  { keys: "?", what: "Show these keys", run: openHelp },
  { keys: "↑ ↓", what: "Go from animal to animal" },
  { keys: "← →", what: "Go to the buttons of an animal" },
  { keys: "PgUp PgDn", what: "Go a screen of animals up or down" },
  { keys: "Home End", what: "Go to the first animal, or the last one that is loaded" },
  { keys: "Space", what: "Select an animal, with Shift a range" },
  { keys: "Shift+↑ ↓", what: "Select from animal to animal" },
  { keys: "Ctrl+A", what: "Select all animals that are loaded" },
  { keys: "Ctrl+P", what: "Print the whole list" },
  { keys: "Enter", what: "Open, choose or save" },
  { keys: "Ctrl+Enter", what: "Add an animal, and then the next one" },
  { keys: "Ctrl+Z", what: "Undo, as long as a message offers it" },
  { keys: "Esc", what: "Close, cancel or clear the selection" },
];

export function useShortcuts(): void {
  usePageKeys((event) => {
    // A key that is held would remove one animal after the other.
    if (isOther(event) || event.repeat) return;
    const shortcut = SHORTCUTS.find(({ keys }) => keys.toLowerCase() === latinKey(event));
    if (shortcut?.run === undefined) return;
    event.preventDefault();
    shortcut.run();
  });
}

/** A sign may need Shift. In a list of choices, a letter chooses. */
function isOther({ ctrlKey, metaKey, altKey, shiftKey, key, target }: KeyboardEvent): boolean {
  const isTaken = shiftKey || (target as Element).matches("select");
  return ctrlKey || metaKey || altKey || isTaken && /^\p{L}/u.test(key);
}

export function openHelp(): void {
  openDialog((close) => (
    <Dialog title="Keyboard shortcuts" no="Close" onClose={close}>
      <dl class="keys">
        {SHORTCUTS.map(({ keys, what }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  ));
}
