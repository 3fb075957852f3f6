/** One animal in the list: its fields and its controls. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Pet } from "../../../events/pet.ts";
import { wanted } from "../data/animals.ts";
import { removeOrAsk } from "../animal/change_animal.tsx";
import { openEditDialog } from "../animal/animal_dialog.tsx";
import { type AnyField, describePet, FIELDS_BESIDE_NAME, type Patch } from "../data/fields.ts";
import { viewOf } from "../animal/field_views.tsx";
import { useHome } from "../parts/focus.ts";
import { Icon } from "../parts/icon.tsx";
import { mayWrite } from "../data/key_info.ts";
import { Name, spokenName } from "../parts/name.tsx";
import { addressOf, onFollow, showAnimal } from "../navigation/navigation.ts";
import { select, selectedIds } from "../data/selection.ts";
import { StatusPicker } from "../animal/status_picker.tsx";

interface AnimalRowProps {
  pet: Pet;
  /** The fields that the animal gets at the moment. */
  patch: Patch | undefined;
  /** Whether the keys are on this row, so that Tab reaches it. */
  isActive: boolean;
}

/** The name is the tab stop of the list; the arrow keys reach the other controls. */
export function AnimalRow({ pet, patch, isActive }: AnimalRowProps): JSX.Element {
  const { id, name } = pet;
  const link = useRef<HTMLAnchorElement>(null);
  useHome(link, isActive);
  return (
    <>
      <span role="gridcell" class="select">
        <SelectionBox pet={pet} />
      </span>
      <span role="gridcell" class="name">
        <a
          ref={link}
          href={addressOf(wanted.value, id)}
          title={`${name}, ${describePet(pet)}`}
          tabIndex={isActive ? 0 : -1}
          onClick={onFollow(() => showAnimal(id))}
        >
          <Name of={name} />
        </a>
      </span>
      <span class="fields">
        {FIELDS_BESIDE_NAME.map((field) => (
          <Cell key={field.name} field={field} pet={pet} patch={patch} mayChange={mayWrite.value} />
        ))}
      </span>
      <span role="gridcell" class="number id">{id}</span>
      <span role="gridcell" class="actions">
        {mayWrite.value && <RowActions pet={pet} />}
      </span>
    </>
  );
}

/** The arrow keys reach the check box, as they reach the other controls. */
function SelectionBox({ pet: { id, name } }: { pet: Pet }): JSX.Element {
  return (
    <label
      // A range of rows is selected, and not the text in it.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select ${spokenName(name)}`}
        title="Select, with Shift a range"
        checked={selectedIds.value.has(id)}
        onClick={(event) => select(id, event.currentTarget.checked, event.shiftKey)}
      />
    </label>
  );
}

interface CellProps {
  field: AnyField;
  pet: Pet;
  patch: Patch | undefined;
  mayChange: boolean;
}

function Cell({ field, pet, patch, mayChange }: CellProps): JSX.Element {
  const value = pet[field.name];
  const isPicker = field.name === "status" && mayChange;
  return (
    <span
      role="gridcell"
      data-field={field.name}
      data-label={field.label}
      class={field.isLong ? "wide" : ""}
    >
      {isPicker
        // Each animal has a picker of its own, which does not fade from the colour of another one.
        ? <StatusPicker key={pet.id} pet={pet} patch={patch} isInGrid />
        : viewOf(field).show(value)}
    </span>
  );
}

function RowActions({ pet }: { pet: Pet }): JSX.Element {
  const name = spokenName(pet.name);
  return (
    <>
      <button
        type="button"
        class="quiet"
        tabIndex={-1}
        title="Edit"
        aria-label={`Edit ${name}`}
        onClick={() => openEditDialog(pet)}
      >
        <Icon name="edit" />
      </button>
      <button
        type="button"
        class="quiet"
        tabIndex={-1}
        title="Remove"
        aria-label={`Remove ${name}`}
        // The second click of a double click may be on the next animal.
        onClick={({ detail }) => detail < 2 && removeOrAsk(pet)}
      >
        <Icon name="remove" />
      </button>
    </>
  );
}
