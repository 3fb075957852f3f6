/** The keys that work anywhere on the page, and the help that names them. */

import { openAddDialog } from "./animal/animal_dialog.tsx";
import { Dialog, openDialog } from "./parts/dialog.tsx";
import { belongsToInputMethod, latinKey } from "./parts/keys.ts";
import { mayWrite } from "./data/key_info.ts";
import { isListShown } from "./navigation/navigation.ts";
import { apiKey } from "./data/session.ts";

interface Shortcut {
  keys: string;
  what: string;
  /** `undefined` if a part of the page handles the keys. */
  run?: () => void;
}

const SHORTCUTS: readonly Shortcut[] = [
  { keys: "/", what: "Search by name or id", run: focusSearch },
  { keys: "n", what: "Add an animal", run: () => mayWrite.value && openAddDialog() },
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

/** Whether a control takes the key: in a list of choices, a letter chooses. */
function takesKey(target: Element, key: string): boolean {
  const isChoosing = target.matches("select") && /^\p{L}$/u.test(key);
  return isChoosing || target.matches("input:not([type=checkbox])");
}

/** Listens to the keys. A key that is typed into a field, or belongs to a dialog, does nothing else. */
export function listenToShortcuts(): void {
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isCombined = event.ctrlKey || event.metaKey || event.altKey;
    const isTyped = target instanceof Element && takesKey(target, key);
    const isBusy = document.querySelector("dialog[open]") !== null;
    if (
      belongsToInputMethod(event) || isCombined || isTyped || isBusy || apiKey.value === undefined
    ) return;
    const shortcut = SHORTCUTS.find(({ keys }) => keys === latinKey(event));
    if (shortcut?.run === undefined) return;
    event.preventDefault();
    shortcut.run();
  });
}

function focusSearch(): void {
  if (!isListShown.value) return;
  const search = document.querySelector<HTMLInputElement>("#search");
  search?.focus();
  search?.select();
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
