/** The keys of the page: those that belong to no input method, no text and nothing that lies open over the page. */

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { belongsToInputMethod, isText } from "./keys.ts";

/** The dialogs and menus that may be open. */
const layers = new Set<HTMLElement>();

/** While the element is open, the page gets no keys. */
export function useLayer(element: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const layer = element.current!;
    layers.add(layer);
    return () => {
      layers.delete(layer);
    };
  }, []);
}

/** Calls `listener` for each key of the page, as long as the component is drawn. */
export function usePageKeys(listener: (event: KeyboardEvent) => void): void {
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isOfPage(event)) listener(event);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function isOfPage(event: KeyboardEvent): boolean {
  const isTaken = belongsToInputMethod(event) || isText(event.target as Element);
  return !isTaken && ![...layers].some((it) => it.matches("[open], :popover-open"));
}
