/**
 * The list on paper, a plain table: Ctrl+P first loads the rest of it. Other ways to print cannot wait, so the paper says
 * what is missing. The rows of the screen would take minutes and gigabytes for ten thousand animals.
 */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { viewOf } from "../animal/field_views.tsx";
import { hasMore, loadedCount, loadRest, petOf, rowIds, wanted } from "../data/animals.ts";
import { FIELDS_BESIDE_NAME } from "../data/fields.ts";
import { isFiltered } from "../data/filter.ts";
import { animals } from "../parts/count_words.ts";
import { latinKey } from "../parts/keys.ts";
import { showToast } from "../parts/messages.tsx";
import { Name } from "../parts/name.tsx";
import { isPrinting, printedDate } from "../parts/printing.ts";
import { FilterWords } from "./filter_words.tsx";

export function usePrintKey(): void {
  useEffect(() => {
    addEventListener("keydown", onPrintKey);
    return () => removeEventListener("keydown", onPrintKey);
  }, []);
}

async function onPrintKey(event: KeyboardEvent): Promise<void> {
  const isKey = (event.ctrlKey || event.metaKey) && latinKey(event) === "p";
  if (!isKey || !hasMore.value) return;
  event.preventDefault();
  showToast("The whole list is loaded, and then printed");
  if (await loadRest(() => true)) print();
}

/** All loaded animals, while the browser prints. */
export function PaperList(): JSX.Element | null {
  if (!isPrinting.value) return null;
  const filter = wanted.value;
  return (
    <table class="paper">
      <caption>
        <b>Animals {isFiltered(filter) && <FilterWords filter={filter} />}</b>
        <span>{animals(loadedCount.value)}, {printedDate()}</span>
      </caption>
      <thead>
        <tr>
          <th>Name</th>
          {FIELDS_BESIDE_NAME.map(({ name, label }) => <th key={name}>{label}</th>)}
          <th class="number">Id</th>
        </tr>
      </thead>
      <tbody>{rowIds.value.map((id) => <PaperRow key={id} id={id} />)}</tbody>
    </table>
  );
}

function PaperRow({ id }: { id: number }): JSX.Element | null {
  const pet = petOf(id);
  if (pet === undefined) return null;
  return (
    <tr>
      <td>
        <Name of={pet.name} />
      </td>
      {FIELDS_BESIDE_NAME.map((field) => (
        <td key={field.name}>{viewOf(field).show(pet[field.name])}</td>
      ))}
      <td class="number">{id}</td>
    </tr>
  );
}

export function MissingOnPaper(): JSX.Element | null {
  if (!hasMore.value) return null;
  return (
    <p class="missing">
      These are the first {animals(loadedCount.value)} of the list. Ctrl+P prints all of it.
    </p>
  );
}
