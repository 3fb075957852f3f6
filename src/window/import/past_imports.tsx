/** The imports of the last day, which can be undone. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { undoImport } from "../animal/change_animals.tsx";
import { keyInfo } from "../data/key_info.ts";
import { changeOf, removalOf } from "../data/write_animal.ts";
import { animals } from "../parts/count_words.ts";
import { ask } from "../parts/dialog.tsx";
import { attempt } from "../parts/messages.tsx";
import { RelativeTime } from "../parts/relative_time.tsx";
import { endLines, readImports } from "./import_store.ts";
import { openLines, type PastImport, type PastLine, undoOfLines } from "./past_import.ts";
import { readPets } from "./read_pets.ts";

/** Those of the API key, the first one first. */
export const pastImports = signal<readonly PastImport[]>([]);

/** Reads what the browser remembers. */
export async function refreshPastImports(): Promise<void> {
  const owner = keyInfo.value?.id;
  // The browser may keep nothing for this page.
  pastImports.value = owner === undefined ? [] : await readImports(owner).catch(() => []);
}

/** `onUndo` is called before an import is undone. */
export function PastImports({ onUndo }: { onUndo: () => void }): JSX.Element | null {
  const open = pastImports.value.filter((it) => openLines(it).length > 0).toReversed();
  if (open.length === 0) return null;
  return (
    <section aria-labelledby="past-imports">
      <h3 id="past-imports">Imported in the last 24 hours</h3>
      {open.map((it) => (
        <div key={it.id} class="import-group">
          <span class="import-past">
            <b>
              <bdi translate={false}>{it.fileName}</bdi>
            </b>
            , {animals(openLines(it).length)},{" "}
            <RelativeTime of={new Date(it.startedAt).toISOString()} />
          </span>
          <UndoImportButton of={it} onUndo={onUndo} />
        </div>
      ))}
    </section>
  );
}

interface UndoImportButtonProps {
  of: PastImport;
  onUndo: () => void;
}

export function UndoImportButton({ of, onUndo }: UndoImportButtonProps): JSX.Element {
  const press = async () => {
    const isSure = await askToUndo(of);
    if (!isSure) return;
    onUndo();
    await attempt("undo of an import", () => undoPastImport(of));
  };
  return (
    <button type="button" aria-label={`Undo the import of ${of.fileName}`} onClick={press}>
      Undo
    </button>
  );
}

function askToUndo(past: PastImport): Promise<boolean> {
  const lines = openLines(past);
  const added = lines.filter(({ previous }) => previous === undefined).length;
  const changed = lines.length - added;
  const effects = [
    added > 0 && `${animals(added)} will be removed`,
    changed > 0 && `${animals(changed)} will get back what they had`,
  ];
  return ask({
    title: (
      <>
        Undo the import of <bdi translate={false}>{past.fileName}</bdi>?
      </>
    ),
    text: `${effects.filter((it) => it !== false).join(", and ")}. ` +
      "What somebody has changed since then stays as it is.",
    no: "Cancel",
    yes: "Undo the import",
  });
}

async function undoPastImport(past: PastImport): Promise<void> {
  const lines = openLines(past);
  const pets = await readPets(lines.map(({ petId }) => petId), new AbortController().signal);
  const { removals, changes, kept } = undoOfLines(lines, pets);
  const writes = [
    ...removals.map(removalOf),
    ...changes.map(({ pet, previous }) => changeOf(pet, previous)),
  ];
  const { done, notSent } = await undoImport(writes, kept);
  const undone = new Set(done.map(({ before }) => before.id));
  const endOf = ({ petId }: PastLine) => {
    const isGone = !pets.has(petId);
    if (isGone || undone.has(petId)) return "undone";
    // The rest of a run that was stopped can still be undone.
    return notSent > 0 ? undefined : "kept";
  };
  await endLines(past.id, endOf).catch(() => {});
  await refreshPastImports();
}
