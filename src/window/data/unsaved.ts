/** Typed text and pending writes, which the reader would lose by leaving the page. */

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { useId, useLayoutEffect } from "preact/hooks";
import { isSignedOut } from "./session.ts";

const holders = signal<ReadonlySet<string | symbol>>(new Set());

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

/** Lets the browser ask before the page is left, until `action` has ended. */
export async function holdPageWhile<Result>(action: () => Promise<Result>): Promise<Result> {
  const id = Symbol();
  holdPage(id);
  try {
    return await action();
  } finally {
    releasePage(id);
  }
}

export function holdPage(id: string | symbol): void {
  holders.value = new Set(holders.value).add(id);
}

export function releasePage(id: string | symbol): void {
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
