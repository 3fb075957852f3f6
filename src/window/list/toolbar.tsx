/** The toolbar above the list: the tabs, how many animals a search finds, and the controls of the whole list. */

import { createRef, type JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { openAddDialog } from "../animal/animal_dialog.tsx";
import { hasMore, isLoading, isStale, rowIds, wanted } from "../data/animals.ts";
import { CategoryPicker } from "../categories/category_picker.tsx";
import { connectionProblem } from "../parts/connection.ts";
import { animals, grouped } from "../parts/count_words.ts";
import { countOfList, counts } from "../data/counts.ts";
import { isStoreEmpty } from "./empty_list.tsx";
import { exportAnimals, isExporting } from "./export_animals.ts";
import { isSearch, TABS } from "../data/filter.ts";
import { FilterWords } from "./filter_words.tsx";
import { useHome } from "../parts/focus.ts";
import { FormField } from "../parts/form_field.tsx";
import { Icon } from "../parts/icon.tsx";
import { openImport } from "../import/open_import.ts";
import { mayWrite } from "../data/key_info.ts";
import { Menu } from "../parts/menu.tsx";
import { TextInput } from "../parts/text_input.tsx";
import {
  filterFault,
  isListShown,
  isRemovedShown,
  leaveTyped,
  PAGES,
  showAllAnimals,
  showList,
  showPage,
  showTyped,
  turnOrder,
  typed,
} from "../navigation/navigation.ts";

/** The limit of the interface. */
const LONGEST_SEARCH = 100;

/** A search begins when the reader pauses. */
const TYPING_PAUSE_MS = 150;
let typing: ReturnType<typeof setTimeout>;

export function Toolbar(): JSX.Element | null {
  if (isStoreEmpty.value && !isRemovedShown.value) return null;
  return (
    <>
      <div class="tabs">
        <div role="tablist" aria-label="Status" onKeyDown={onTabKey}>
          {TABS.map(({ tab, label }) => (
            <TabButton
              key={tab}
              tab={tab}
              label={label}
              isSelected={isListShown.value && tab === wanted.value.status}
              onPress={() => showList({ status: tab })}
            />
          ))}
          <TabButton
            tab="removed"
            label={PAGES.removed}
            isSelected={isRemovedShown.value}
            onPress={() => showPage("removed")}
          />
        </div>
        {isListShown.value && <Results />}
      </div>
      {isListShown.value && (
        <div class="tools">
          <Search />
          <FurtherTools />
          {mayWrite.value && <AddButton />}
        </div>
      )}
    </>
  );
}

/** How many animals a search finds, or why the list is still the previous one. */
function Results(): JSX.Element | null {
  const isPrevious = isStale.value && rowIds.value.length > 0;
  if (isPrevious && !isLoading.value) return <Previous why="Yours could not be loaded." />;
  if (isPrevious && connectionProblem.value) {
    return <Previous why="Yours comes when the service answers." />;
  }
  // The tab has the number of its animals.
  if (!isSearch(wanted.value)) return null;
  const isCounted = !isStale.value && !isLoading.value;
  // The empty list says it.
  if (isCounted && !hasMore.value && rowIds.value.length === 0) return null;
  const count = isCounted ? countOfList.value : undefined;
  return (
    <p class="results">
      <span role="status">{count !== undefined && animals(count)}</span>
      <FilterWords filter={wanted.value} />
      <button type="button" class="link" onClick={showAllAnimals}>Clear</button>
    </p>
  );
}

function Previous({ why }: { why: string }): JSX.Element {
  return (
    <p class="results previous">
      <span role="status">Still the previous list. {why}</span>
      {!isLoading.value && (
        <button type="button" class="link" onClick={() => showList({})}>Try again</button>
      )}
      {isSearch(wanted.value) && (
        <button type="button" class="link" onClick={showAllAnimals}>Clear</button>
      )}
    </p>
  );
}

interface TabButtonProps {
  tab: keyof typeof counts.value;
  label: string;
  isSelected: boolean;
  onPress: () => void;
}

function TabButton({ tab, label, isSelected, onPress }: TabButtonProps): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  useHome(button, isSelected);
  const isCounted = counts.value[""] !== undefined;
  const count = counts.value[tab];
  // The line of the tabs gets longer when they get their numbers.
  useLayoutEffect(() => {
    if (isSelected) showInLine(button.current!);
  }, [isSelected, isCounted]);
  return (
    <button
      ref={button}
      type="button"
      role="tab"
      id={`tab-${tab}`}
      aria-controls="animals"
      aria-selected={isSelected}
      tabIndex={isSelected ? 0 : -1}
      onClick={onPress}
    >
      {label} <b>{count !== undefined && grouped(count)}</b>
    </button>
  );
}

/** On a phone, the line of the tabs scrolls. */
function showInLine(tab: HTMLElement): void {
  const line = tab.parentElement!;
  line.scrollLeft = tab.offsetLeft + (tab.offsetWidth - line.offsetWidth) / 2;
}

/** The arrow keys go from tab to tab. */
function onTabKey({ key, target }: KeyboardEvent): void {
  const tab = target as HTMLElement;
  const siblings: Record<string, Element | null> = {
    ArrowRight: tab.nextElementSibling,
    ArrowLeft: tab.previousElementSibling,
  };
  const other = siblings[key] as HTMLElement | null | undefined;
  other?.click();
  other?.focus();
}

const searchField = createRef<HTMLInputElement>();

/** Goes to the field of the search, if the list is shown. */
export function focusSearch(): void {
  searchField.current?.focus();
  searchField.current?.select();
}

function Search(): JSX.Element {
  const clear = () => {
    showSoon({ q: "" });
    searchField.current?.focus();
  };
  return (
    <span class="search">
      <Icon name="search" />
      <TextInput
        control={searchField}
        type="search"
        maxLength={LONGEST_SEARCH}
        aria-label="Search by name, note or id"
        aria-keyshortcuts="/"
        placeholder="Search by name, note or id"
        text={typed.value.q}
        onText={(q) => showSoon({ q })}
        onBlur={onLeave}
      />
      {typed.value.q !== "" && (
        <button type="button" class="quiet" aria-label="Clear the search" onClick={clear}>
          <Icon name="close" />
        </button>
      )}
    </span>
  );
}

function CategoryFilter(): JSX.Element {
  return (
    <FormField label="Filter by category" isLabelHidden fault={filterFault.value}>
      {(attributes) => (
        <CategoryPicker
          {...attributes}
          name="category"
          any="Any category"
          text={typed.value.categoryId}
          onText={(categoryId) => showSoon({ categoryId })}
          onLeave={onLeave}
        />
      )}
    </FormField>
  );
}

function onLeave(): void {
  clearTimeout(typing);
  leaveTyped();
}

function showSoon(change: { q?: string; categoryId?: string }): void {
  typed.value = { ...typed.value, ...change };
  clearTimeout(typing);
  typing = setTimeout(showTyped, TYPING_PAUSE_MS);
}

/** On a narrow page, a menu has them. */
function FurtherTools(): JSX.Element {
  return (
    <Menu
      class="narrow"
      title="Filters and more"
      label="Filters and more"
      isUnfolded
      button={
        <>
          <span class="unseen">Filters and more</span>
          <Icon name="filter" />
        </>
      }
    >
      <p class="title narrow">Filters and more</p>
      <CategoryFilter />
      <TurnOrder />
      <span class="space" />
      {mayWrite.value && <button type="button" onClick={openImport}>Import</button>}
      <button type="button" aria-busy={isExporting.value} onClick={exportAnimals}>
        {isExporting.value ? "Exporting …" : "Export"}
      </button>
    </Menu>
  );
}

/** A list without columns has no head in which the order could be turned. */
function TurnOrder(): JSX.Element {
  return (
    <button type="button" class="narrow" onClick={turnOrder}>
      {wanted.value.order === "asc" ? "Show the newest first" : "Show the oldest first"}
    </button>
  );
}

function AddButton(): JSX.Element {
  return (
    <button
      type="button"
      class="primary"
      aria-label="Add an animal"
      aria-keyshortcuts="n"
      onClick={() => openAddDialog()}
    >
      Add <span class="wide">an animal</span>
    </button>
  );
}
