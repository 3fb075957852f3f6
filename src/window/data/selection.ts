/** The animals that the reader has selected in the list that is shown. Another list begins without a selection. */

import { computed, signal } from "@preact/signals";
import type { Pet } from "../../../events/pet.ts";
import { listed, loadRest, petOf, rowIds, wanted } from "./animals.ts";
import { type Filter, NO_FILTER } from "./filter.ts";

const chosen = signal<{ filter: Filter; ids: ReadonlySet<number> }>({
  filter: NO_FILTER,
  ids: new Set(),
});

/** The animal from which a range is selected: the one that was selected last. */
let anchor: number | undefined;

/** The ids that can be selected, in the order of the rows. */
const selectable = computed(() => rowIds.value.filter((id) => listed.value.has(id)));

/** Only what the list shows is selected, so nothing happens to an animal that the reader does not see there. */
export const selectedIds = computed<ReadonlySet<number>>(() => {
  const { filter, ids } = chosen.value;
  if (filter !== wanted.value || ids.size === 0) return new Set();
  return new Set(selectable.value.filter((id) => ids.has(id)));
});

export const isAllSelected = computed(() => {
  const { size } = selectedIds.value;
  return size > 0 && size === selectable.value.length;
});

/** Number of animals that "all" selects. */
export const selectableCount = computed(() => selectable.value.length);

/** The selected animals as the list has them now. */
export function selectedPets(): Pet[] {
  const pets = [...selectedIds.value].map(petOf);
  return pets.filter((pet) => pet !== undefined);
}

/** Selects an animal or not; with `isRange`, also those between it and the last one. */
export function select(id: number, isSelected: boolean, isRange: boolean): void {
  const range = isRange ? rangeOf(anchor ?? id, id) : [id];
  const ids = new Set(selectedIds.value);
  for (const it of range) {
    if (isSelected) ids.add(it);
    else ids.delete(it);
  }
  anchor = id;
  choose(ids);
}

/** Moves the end of the selected range from one animal to another. The range begins at `from` if that is not selected. */
export function extendSelection(from: number, to: number): void {
  const isBegun = anchor !== undefined && selectedIds.value.has(from);
  const start = isBegun ? anchor! : from;
  const others = selectedIds.value.difference(new Set(rangeOf(start, from)));
  anchor = start;
  choose(others.union(new Set(rangeOf(start, to))));
}

function rangeOf(start: number, end: number): readonly number[] {
  const from = selectable.value.indexOf(start);
  const to = selectable.value.indexOf(end);
  if (from < 0) return [end];
  return selectable.value.slice(Math.min(from, to), Math.max(from, to) + 1);
}

export function selectAll(): void {
  choose(new Set(selectable.value));
}

/** The list whose rest is loaded, so that all of it can be selected. */
const loadedWhole = signal<Filter | undefined>(undefined);

export const isLoadingWhole = computed(() => loadedWhole.value === wanted.value);

/** Selects all animals of the list, and first loads those that are missing. Another selection stops it, too. */
export async function selectWhole(): Promise<void> {
  if (isLoadingWhole.value) return;
  const filter = wanted.value;
  loadedWhole.value = filter;
  if (await loadRest(() => loadedWhole.value === filter)) selectAll();
  if (loadedWhole.value === filter) loadedWhole.value = undefined;
}

/** Stops loading. What was selected before stays selected. */
export function stopSelecting(): void {
  loadedWhole.value = undefined;
}

export function clearSelection(): void {
  choose(new Set());
}

function choose(ids: ReadonlySet<number>): void {
  loadedWhole.value = undefined;
  chosen.value = { filter: wanted.value, ids };
}
