import type { JSX } from "preact";
import { changerOfPet } from "../data/changers.ts";
import type { StoreEvent } from "../data/events.ts";
import { keyInfo } from "../data/key_info.ts";
import { Name } from "../parts/name.tsx";
import { isPrinting } from "../parts/printing.ts";

/** The person behind an event: "you" for the reader's own key, and otherwise the label of the key, if the reader gets it. */
export function By({ event: { actor, actorlabel } }: { event: StoreEvent }): JSX.Element | null {
  // "You" is nobody on paper.
  if (actor === undefined || isPrinting.value) return null;
  if (actor === keyInfo.value?.id) return <>, by you</>;
  // A key that may only read gets no labels.
  if (actorlabel === undefined) return null;
  return (
    <>
      , by <Name of={actorlabel} />
    </>
  );
}

/** The person who made an animal as the page knows it, at the beginning of a sentence. */
export function Changer({ id }: { id: number }): JSX.Element {
  const label = changerOfPet(id);
  return label === undefined ? <>Somebody else</> : <Name of={label} />;
}
