/** Typed text and pending writes, which the reader would lose by leaving the page. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { useId, useLayoutEffect } from "preact/hooks";
import { isSignedOut } from "./session.ts";

const holders = signal<ReadonlySet<string>>(new Set());

/** Whether anything would be lost. */
export const hasUnsaved: ReadonlySignal<boolean> = computed(() => holders.value.size > 0);

/** Lets the browser ask before the page is left, as long as `isUnsaved` is true. */
export function useUnsaved(isUnsaved: boolean): void {
  const id = useId();
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    holdPage(id);
    return () => releasePage(id);
  }, [isUnsaved]);
}

export function holdPage(id: string): void {
  holders.value = new Set(holders.value).add(id);
}

export function releasePage(id: string): void {
  const others = new Set(holders.value);
  others.delete(id);
  holders.value = others;
}

effect(() => {
  if (hasUnsaved.value) addEventListener("beforeunload", askToStay);
  else removeEventListener("beforeunload", askToStay);
});

function askToStay(event: Event): void {
  if (!isSignedOut()) event.preventDefault();
}
