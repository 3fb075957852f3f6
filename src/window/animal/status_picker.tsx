/** The status of an animal as a pill, from which people choose another one. */

import type { JSX } from "preact";
import type { PetStatus } from "../../../events/pet.ts";
import { STATUS_CHOICES, statusOf } from "../data/fields.tsx";
import { Select } from "../parts/select.tsx";

interface StatusPickerProps {
  status: PetStatus | undefined;
  label: string;
  /** Whether a choice is being written. */
  isBusy: boolean;
  isInGrid?: boolean;
  onPick: (status: PetStatus | undefined) => void;
}

export function StatusPicker(props: StatusPickerProps): JSX.Element {
  const { status, label, isBusy, isInGrid, onPick } = props;
  return (
    <Select
      class={`pill picker ${status ?? "none"}`}
      aria-label={label}
      aria-busy={isBusy}
      readOnly={isBusy}
      isInGrid={isInGrid}
      choices={STATUS_CHOICES}
      text={status ?? ""}
      onText={(text) => onPick(statusOf(text))}
    />
  );
}
