/**
 * The list of animals. Only the rows near the screen are drawn, and the one that has the keys. The whole list is one tab
 * stop: the arrow keys go from row to row, and from control to control.
 */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { activeId } from "../data/active_id.ts";
import { AnimalRow } from "./animal_row.tsx";
import {
  hasMore,
  hasNothing,
  isAtOrAfter,
  isLoading,
  isStale,
  loadMore,
  petOf,
  rowIds,
  wanted,
} from "../data/animals.ts";
import { connectionProblem } from "../parts/connection.ts";
import { grouped } from "../parts/count_words.ts";
import { EmptyList, isStoreEmpty } from "./empty_list.tsx";
import { FIELDS_BESIDE_NAME } from "../data/fields.ts";
import { afterDraw, focusHome, restoreFocus } from "../parts/focus.ts";
import { Icon } from "../parts/icon.tsx";
import { isText, latinKey } from "../parts/keys.ts";
import { usePageKeys } from "../parts/page_keys.ts";
import { MissingOnPaper, PaperList, usePrintKey } from "./print_list.tsx";
import { showList, shownAgain, turnOrder } from "../navigation/navigation.ts";
import {
  clearSelection,
  extendSelection,
  isAllSelected,
  select,
  selectableCount,
  selectAll,
  selectedIds,
} from "../data/selection.ts";
import { changing } from "../data/write_animal.ts";

const SKELETON_ROWS = 8;
/** `aria-rowindex` of the first animal: that of the header is 1. */
const FIRST_ROW_INDEX = 2;

/** The rows on the screen: the first one is negative while the list begins below the top of the screen. */
interface View {
  firstRow: number;
  rowsOnScreen: number;
  rowHeight: number;
}

const view = signal<View>({ firstRow: 0, rowsOnScreen: 0, rowHeight: 1 });

/** Measures nothing while no row is drawn. */
function measure(rows: HTMLElement | null): void {
  const drawn = rows?.firstElementChild;
  if (rows === null || !drawn) return;
  const rowHeight = drawn.getBoundingClientRect().height;
  const { top } = rows.getBoundingClientRect();
  const firstRow = Math.floor(-top / rowHeight);
  const rowsOnScreen = Math.ceil(innerHeight / rowHeight);
  const { value } = view;
  const isUnchanged = value.firstRow === firstRow && value.rowHeight === rowHeight &&
    value.rowsOnScreen === rowsOnScreen;
  if (!isUnchanged) view.value = { firstRow, rowsOnScreen, rowHeight };
}

export function AnimalList(): JSX.Element {
  const isWaiting = isLoading.value;
  return (
    <div
      role={isStoreEmpty.value ? undefined : "tabpanel"}
      id="animals"
      aria-labelledby={isStoreEmpty.value ? undefined : `tab-${wanted.value.status}`}
      aria-busy={isWaiting}
      class={isStale.value ? "stale" : ""}
      style={{
        "--fields": FIELDS_BESIDE_NAME.length,
        "--short-fields": FIELDS_BESIDE_NAME.filter(({ isLong }) => !isLong).length,
      }}
    >
      <PaperList />
      {rowIds.value.length > 0 && <Grid />}
      <MissingOnPaper />
      <Rest />
    </div>
  );
}

/** The element that follows the rows, or replaces them. */
function Rest(): JSX.Element | null {
  const isEmpty = rowIds.value.length === 0;
  if (isLoading.value) {
    if (isEmpty) return <Skeleton />;
    return <p class="note">{loadingWords()}</p>;
  }
  if (hasNothing.value) {
    // Above the rows of the previous list, the toolbar has the button.
    if (!isEmpty) return null;
    return (
      <p class="note">
        <button type="button" onClick={() => showList({})}>Try again</button>
      </p>
    );
  }
  if (hasMore.value) {
    // The Tab key would scroll to it, which loads more: it is gone then, and the focus is lost.
    return (
      <p class="note">
        <button type="button" tabIndex={-1} onClick={loadMore}>
          Load more
        </button>
      </p>
    );
  }
  return isEmpty ? <EmptyList /> : null;
}

function loadingWords(): string {
  if (connectionProblem.value) return connectionProblem.value;
  return wanted.value.q === "" ? "Loading …" : "Searching …";
}

function Skeleton(): JSX.Element {
  return (
    <div class="skeleton">
      <p class="note">{loadingWords()}</p>
      {Array.from({ length: SKELETON_ROWS }, (_, row) => <div key={row} class="bar" />)}
    </div>
  );
}

function Grid(): JSX.Element {
  const rows = useRef<HTMLDivElement>(null);
  const ids = rowIds.value;
  const { firstRow, rowsOnScreen } = view.value;
  const activeRow = useActiveRow(ids);
  useView(rows);
  const endShift = useAnchor(ids, rows);
  usePageKeys(onSelectionKey);
  usePrintKey();
  const kept = useFocusKept(rows, activeRow);

  const first = Math.max(0, Math.ceil(firstRow - rowsOnScreen / 2));
  const last = Math.min(ids.length - 1, Math.floor(firstRow + 1.5 * rowsOnScreen));
  const near = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  const drawn = [...new Set([activeRow, ...near])].sort((one, other) => one - other);
  const keys = useElements(drawn.map((row) => ids[row]), ids[activeRow]);
  return (
    <div
      role="grid"
      aria-label="Animals"
      aria-multiselectable
      aria-rowcount={hasMore.value ? -1 : ids.length + 1}
      onKeyDown={(event) => onGridKey(event, ids)}
      onFocusIn={kept.onFocusIn}
    >
      <div role="rowgroup" class="head">
        <div role="row" class="cells" aria-rowindex={1}>
          <span role="columnheader" class="select">
            <SelectAll />
          </span>
          <span role="columnheader" class="name">Name</span>
          <span class="fields">
            {FIELDS_BESIDE_NAME.map(({ name, label, isLong }) => (
              <span key={name} role="columnheader" class={isLong ? "wide" : ""}>{label}</span>
            ))}
          </span>
          <IdHeader />
          <span role="columnheader" class="actions">
            <span class="unseen">Actions</span>
          </span>
        </div>
      </div>
      <div
        ref={rows}
        role="rowgroup"
        id="rows"
        onPointerLeave={endShift}
        style={{ height: `calc(${ids.length} * var(--row))` }}
      >
        {drawn.map((row) => (
          <Row key={keys.get(ids[row])} id={ids[row]} row={row} isActive={row === activeRow} />
        ))}
      </div>
    </div>
  );
}

function IdHeader(): JSX.Element {
  const isAscending = wanted.value.order === "asc";
  return (
    <span
      role="columnheader"
      class="number id"
      aria-sort={isAscending ? "ascending" : "descending"}
    >
      <button
        type="button"
        class={`sort ${isAscending ? "ascending" : ""}`}
        title={isAscending ? "Oldest first" : "Newest first"}
        onClick={turnOrder}
      >
        Id
        <Icon name="open" />
      </button>
    </span>
  );
}

function SelectAll(): JSX.Element {
  const isAll = isAllSelected.value;
  return (
    <label>
      <input
        type="checkbox"
        aria-label={`Select all ${grouped(selectableCount.value)} loaded animals`}
        checked={isAll}
        indeterminate={selectedIds.value.size > 0 && !isAll}
        onClick={isAll ? clearSelection : selectAll}
      />
    </label>
  );
}

function Row({ id, row, isActive }: { id: number; row: number; isActive: boolean }) {
  const pet = petOf(id);
  if (pet === undefined) return null;
  const isSelected = selectedIds.value.has(id);
  return (
    <div
      role="row"
      class={isSelected ? "cells selected" : "cells"}
      aria-selected={isSelected}
      data-id={id}
      style={{ top: `calc(${row} * var(--row))` }}
      aria-rowindex={row + FIRST_ROW_INDEX}
    >
      <AnimalRow pet={pet} patch={changing.value.get(id)} isActive={isActive} />
    </div>
  );
}

/**
 * Preact's keys of the drawn rows, by the ids of their animals. A row that comes gets the element of one that goes, because
 * making elements is most of the work of scrolling. The element of the row that was active is never given to another
 * animal, because it may have the focus.
 */
function useElements(
  drawn: readonly number[],
  active: number | undefined,
): ReadonlyMap<number, number> {
  const last = useRef({ keys: new Map<number, number>(), active, made: 0 });
  const { keys: before, active: activeBefore } = last.current;
  let { made } = last.current;
  const isDrawn = new Set(drawn);
  const gone = [...before].filter(([id]) => !isDrawn.has(id) && id !== activeBefore);
  const free = gone.map(([, key]) => key).reverse();
  const keys = new Map<number, number>();
  for (const id of drawn) {
    let key = before.get(id) ?? free.pop();
    if (key === undefined) {
      made += 1;
      key = made;
    }
    keys.set(id, key);
  }
  last.current = { keys, active, made };
  return keys;
}

/** The row with the keys. If its animal is gone, the one in its place. */
function useActiveRow(ids: readonly number[]): number {
  const last = useRef(0);
  const found = activeId.value === undefined ? -1 : ids.indexOf(activeId.value);
  last.current = found >= 0 ? found : Math.max(0, Math.min(last.current, ids.length - 1));
  return last.current;
}

/** Measures the rows after scrolling, and loads more of them near the end. */
function useView(rows: { current: HTMLElement | null }): void {
  useLayoutEffect(() => measure(rows.current), [shownAgain.value]);
  useEffect(() => {
    const onMove = () => {
      measure(rows.current);
      const isNearEnd = scrollY > document.body.scrollHeight - 2 * innerHeight;
      if (isNearEnd) loadMore();
    };
    addEventListener("scroll", onMove);
    addEventListener("resize", onMove);
    return () => {
      removeEventListener("scroll", onMove);
      removeEventListener("resize", onMove);
    };
  }, []);
}

/**
 * When others come or go above it, the row that is pointed at keeps its place, so that nothing moves away from a click. If
 * none is, the first row on the screen does, but at the top of the list, new rows are seen.
 */
function useAnchor(ids: readonly number[], rows: { current: HTMLElement | null }): () => void {
  const before = useRef<readonly number[]>(ids);
  const shift = useRef(0);
  const shiftTo = (pixels: number) => {
    shift.current = pixels;
    rows.current!.style.translate = `0 ${pixels}px`;
    measure(rows.current);
  };
  useLayoutEffect(() => {
    const { firstRow, rowHeight } = view.value;
    const pointedAt = rows.current?.querySelector<HTMLElement>("[data-id]:hover");
    const anchorRow = pointedAt ? before.current.indexOf(Number(pointedAt.dataset.id)) : firstRow;
    const anchor = before.current[anchorRow];
    before.current = ids;
    if (anchor === undefined || isStale.value) return;
    const found = ids.indexOf(anchor);
    const row = found >= 0 ? found : ids.findIndex((id) => isAtOrAfter(id, anchor));
    if (row < 0 || row === anchorRow) return;
    const pixels = (row - anchorRow) * rowHeight;
    const from = scrollY;
    scrollBy(0, pixels);
    // The page may be too short to scroll that far.
    const rest = pixels - (scrollY - from);
    shiftTo(pointedAt ? shift.current - rest : 0);
  }, [ids]);
  return () => shift.current !== 0 && shiftTo(0);
}

/** If the row with the focus is gone, the row in its place gets the focus. */
function useFocusKept(rows: { current: HTMLElement | null }, activeRow: number) {
  // While the row is drawn, its element still has the focus.
  const hadFocus = rows.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (hadFocus && document.activeElement === document.body) {
      focusHome();
    }
  }, [activeRow, hadFocus, rowIds.value]);
  useEffect(() => restoreFocus, []);
  const onFocusIn = () => {
    activeId.value = focusedId() ?? activeId.value;
  };
  return { onFocusIn };
}

/** The id of the animal in whose row the focus is. */
export function focusedId(): number | undefined {
  const row = document.activeElement?.closest<HTMLElement>("[data-id]");
  return row ? Number(row.dataset.id) : undefined;
}

const CONTROLS = "a, button, select, input[type=checkbox]";

/** Ctrl+A selects what is loaded, and Escape nothing. */
function onSelectionKey(event: KeyboardEvent): void {
  if (event.key === "Escape") clearSelection();
  if (!isSelectAll(event)) return;
  event.preventDefault();
  selectAll();
}

function isSelectAll(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, shiftKey } = event;
  const isCombined = (ctrlKey || metaKey) && !altKey && !shiftKey;
  return isCombined && latinKey(event) === "a";
}

const STEPS_IN_ROW: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

function onGridKey(event: KeyboardEvent, ids: readonly number[]): void {
  const target = event.target as HTMLElement;
  const grid = event.currentTarget as HTMLElement;
  const row = target.closest<HTMLElement>("[data-id]");
  const isShortcut = event.altKey || event.ctrlKey || event.metaKey;
  if (row === null || isShortcut || isText(target)) return;
  const controls = [...row.querySelectorAll<HTMLElement>(CONTROLS)];
  const place = controls.indexOf(target);
  if (event.key in STEPS_IN_ROW) {
    event.preventDefault();
    controls[place + STEPS_IN_ROW[event.key]]?.focus();
    return;
  }
  // A link does nothing else with this key.
  if (event.key === " " && target.matches("a")) {
    event.preventDefault();
    const id = Number(row.dataset.id);
    select(id, !selectedIds.value.has(id), event.shiftKey);
    return;
  }
  const step = stepOf(event.key, ids.length);
  if (step === undefined) return;
  event.preventDefault();
  const from = ids.indexOf(Number(row.dataset.id));
  const to = Math.max(0, Math.min(ids.length - 1, from + step));
  if (event.shiftKey) extendSelection(ids[from], ids[to]);
  activeId.value = ids[to];
  afterDraw(() => {
    const other = grid.querySelector(`[data-id="${ids[to]}"]`);
    const others = other?.querySelectorAll<HTMLElement>(CONTROLS) ?? [];
    const control = others[Math.min(place, others.length - 1)];
    control?.focus({ preventScroll: true });
    control?.scrollIntoView({ block: "nearest" });
  });
}

/** The number of rows by which a key moves. */
function stepOf(key: string, length: number): number | undefined {
  const { rowsOnScreen } = view.value;
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: rowsOnScreen - 5,
    PageUp: 5 - rowsOnScreen,
    End: length,
    Home: -length,
  };
  return steps[key];
}
