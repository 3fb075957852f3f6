/** The text of a list without animals. */

import type { JSX } from "preact";
import { openAddDialog } from "./add_dialog.tsx";
import { wanted } from "./animals.ts";
import { isFiltered } from "./filter.ts";
import { openImportDialog } from "./import/import_dialog.tsx";
import { mayWrite } from "./key_info.ts";
import { showAllAnimals } from "./navigation.ts";

export function EmptyList(): JSX.Element {
  return isFiltered(wanted.value) ? <NoneFound /> : <EmptyStore />;
}

function NoneFound(): JSX.Element {
  return (
    <div class="empty">
      <p role="status">No such animals.</p>
      <p>
        <button type="button" onClick={showAllAnimals}>Show all animals</button>
      </p>
    </div>
  );
}

function EmptyStore(): JSX.Element {
  return (
    <div class="empty">
      <h2 class="title">No animals yet</h2>
      {mayWrite.value && (
        <>
          <p>Add one after the other, or all from a file of a spreadsheet (CSV).</p>
          <p class="buttons">
            <button type="button" onClick={openAddDialog}>Add your first animal</button>
            <button type="button" onClick={openImportDialog}>Import a file</button>
          </p>
        </>
      )}
    </div>
  );
}
