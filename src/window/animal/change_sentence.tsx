/** A change of an animal in words. */

import type { ComponentChildren, JSX } from "preact";
import type { Pet } from "../../../events/pet.ts";
import { type AnyField, differencesOf, type Patch } from "../data/fields.ts";
import { viewOf } from "./field_views.tsx";

interface ChangeProps {
  name: JSX.Element;
  after: Pet;
  previous: Patch;
}

export function ChangeSentence({ name, after, previous }: ChangeProps): JSX.Element {
  return <>{name} {differencesOf(after, previous).map(sentenceOf).map(joined)}</>;
}

function sentenceOf({ field, after }: { field: AnyField; after: unknown }): ComponentChildren {
  return viewOf(field).sentence(after);
}

function joined(change: ComponentChildren, index: number): ComponentChildren {
  return index === 0 ? change : <>{" and "}{change}</>;
}
