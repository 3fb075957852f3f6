import type { JSX } from "preact";
import { changerOfPet } from "../data/changers.ts";
import type { StoreEvent } from "../data/events.ts";
import { keyInfo } from "../data/key_info.ts";
import { Name } from "../parts/name.tsx";
import { isPrinting } from "../parts/printing.ts";

const KEY_ID_LENGTH = 6;

/**
 * The person behind an event: "you" for the reader's own key, and otherwise the label of the key. A key that may only read
 * gets no label, so it shows the end of the id.
 */
export function By({ event: { actor, actorlabel } }: { event: StoreEvent }): JSX.Element | null {
  // "You" is nobody on paper.
  if (actor === undefined || isPrinting.value) return null;
  if (actor === keyInfo.value?.id) return <>, by you</>;
  if (actorlabel !== undefined) {
    return (
      <>

/** The person who made an animal as the page knows it, at the beginning of a sentence. */
export function Changer({ id }: { id: number }): JSX.Element {
  const label = changerOfPet(id);
  return label === undefined ? <>Somebody else</> : <Name of={label} />;
}
        , by <Name of={actorlabel} />
      </>
    );
  }
  return (
    <>
      , by the key <code title={actor} translate={false}>…{actor.slice(-KEY_ID_LENGTH)}</code>
    </>
  );
}
