/** The toolbar above the list: the tabs, the filters, and the actions for the whole list. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { openAddDialog } from "./add_dialog.tsx";
import { wanted } from "./animals.ts";
import { CategoryPicker } from "./category_picker.tsx";
import { counts } from "./counts.ts";
import { exportAnimals, isExporting } from "./export_animals.ts";
import { type Tab, TABS } from "./filter.ts";
import { FormField } from "./form_field.tsx";
import { Icon } from "./icon.tsx";
import { openImportDialog } from "./import/import_dialog.tsx";
import { mayWrite } from "./key_info.ts";
import { OrderButton } from "./order_button.tsx";
import { checkTyped, filterFault, showList, showTyped, typed } from "./navigation.ts";

/** The limit of the interface. */
const LONGEST_SEARCH = 100;

/** A search begins when the reader pauses. */
const TYPING_PAUSE_MS = 150;
let typing: ReturnType<typeof setTimeout>;

export function Toolbar(): JSX.Element {
  return (
    <>
      <div role="tablist" aria-label="Status" onKeyDown={onTabKey}>
        {TABS.map(({ tab, label }) => <StatusTab key={tab} tab={tab} label={label} />)}
      </div>
      <div class="filters">
        <Search />
        <CategoryFilter />
      </div>
      <div class="tools">
        <Tools />
      </div>
    </>
  );
}

function StatusTab({ tab, label }: { tab: Tab; label: string }): JSX.Element {
  const isSelected = tab === wanted.value.status;
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${tab}`}
      aria-controls="animals"
      aria-selected={isSelected}
      tabIndex={isSelected ? 0 : -1}
      data-home={isSelected || undefined}
      onClick={() => showList({ status: tab })}
    >
      {label} <b>{counts.value[tab]?.toLocaleString("en")}</b>
    </button>
  );
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

function Search(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const clear = () => {
    showSoon({ name: "" });
    input.current?.focus();
  };
  return (
    <span class="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        maxLength={LONGEST_SEARCH}
        aria-label="Search by name or id"
        aria-keyshortcuts="/"
        id="search"
        placeholder="Search by name or id"
        autocomplete="off"
        value={typed.value.name}
        onInput={({ currentTarget }) => showSoon({ name: currentTarget.value })}
      />
      {typed.value.name !== "" && (
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
          onLeave={onLeaveCategory}
        />
      )}
    </FormField>
  );
}

function onLeaveCategory(): void {
  clearTimeout(typing);
  showTyped();
  checkTyped();
}

function showSoon(change: { name?: string; categoryId?: string }): void {
  typed.value = { ...typed.value, ...change };
  clearTimeout(typing);
  typing = setTimeout(showTyped, TYPING_PAUSE_MS);
}

function Tools(): JSX.Element {
  return (
    <>
      <div class="line">
        <span class="narrow">
          <OrderButton />
        </span>
        {mayWrite.value && <button type="button" onClick={openImportDialog}>Import</button>}
        <button type="button" aria-busy={isExporting.value} onClick={exportAnimals}>
          {isExporting.value ? "Exporting …" : "Export"}
        </button>
      </div>
      {mayWrite.value && (
        <button
          type="button"
          class="primary"
          aria-label="Add an animal"
          aria-keyshortcuts="n"
          onClick={openAddDialog}
        >
          Add <span class="wide">an animal</span>
        </button>
      )}
    </>
  );
}
