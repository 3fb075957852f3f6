/** The list on paper: Ctrl+P first loads the rest of it. Other ways to print cannot wait, so the paper says what is missing. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { hasMore, loadedCount, loadRest } from "../data/animals.ts";
import { animals } from "../parts/count_words.ts";
import { latinKey } from "../parts/keys.ts";
import { showToast } from "../parts/messages.tsx";

/** Paper has all rows. */
export const isPrinting = signal(false);

export function usePrinting(): void {
  useEffect(() => {
    const setPrinting = ({ type }: Event) => isPrinting.value = type === "beforeprint";
    addEventListener("keydown", onPrintKey);
    addEventListener("beforeprint", setPrinting);
    addEventListener("afterprint", setPrinting);
    return () => {
      removeEventListener("keydown", onPrintKey);
      removeEventListener("beforeprint", setPrinting);
      removeEventListener("afterprint", setPrinting);
    };
  }, []);
}

async function onPrintKey(event: KeyboardEvent): Promise<void> {
  const isKey = (event.ctrlKey || event.metaKey) && latinKey(event) === "p";
  if (!isKey || !hasMore.value) return;
  event.preventDefault();
  showToast("The whole list is loaded, and then printed");
  if (await loadRest(() => true)) print();
}

export function MissingOnPaper(): JSX.Element | null {
  if (!hasMore.value) return null;
  return (
    <p class="missing">
      These are the first {animals(loadedCount.value)} of the list. Ctrl+P prints all of it.
    </p>
  );
}
