/** The status of an animal as a pill, from which people choose another one, which is written at once. */

import type { JSX } from "preact";
import type { Pet } from "../../../events/pet.ts";
import { type Patch, STATUS_CHOICES, statusOf } from "../data/fields.ts";
import { spokenName } from "../parts/name.tsx";
import { Select } from "../parts/select.tsx";
import { changeOrAsk } from "./change_animal.tsx";
import { dottedChoice } from "./field_views.tsx";

const CHOICES = STATUS_CHOICES.map(dottedChoice);

interface StatusPickerProps {
  pet: Pet;
  /** The fields that the animal gets at the moment. */
  patch: Patch | undefined;
  isInGrid?: boolean;
}

/** The pill has the new status while that is being written. */
export function StatusPicker({ pet, patch, isInGrid }: StatusPickerProps): JSX.Element {
  const shown = patch?.status === undefined ? pet.status : patch.status ?? undefined;
  const isBusy = patch !== undefined;
  return (
    <Select
      class={`pill picker ${shown ?? "none"}`}
      aria-label={`Status of ${spokenName(pet.name)}`}
      aria-busy={isBusy}
      readOnly={isBusy}
      isInGrid={isInGrid}
      choices={CHOICES}
      text={shown ?? ""}
      onText={(text) => changeOrAsk(pet, { status: statusOf(text) ?? null })}
    />
  );
}
