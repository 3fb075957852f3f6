/** How many animals the filter finds in each tab, and what a search without results may have meant. */

import { computed, signal } from "@preact/signals";
import { hasMore, isRemoved, loadedCount, petOf, wanted } from "./animals.ts";
import {
  type Filter,
  hasSearchedWords,
  isInTab,
  matches,
  searchedId,
  type Tab,
  TABS,
} from "./filter.ts";
import { Query, readNow } from "./queries.ts";

/** A search goes through thousands of animals, so it is not counted again after each batch of events. */
const PAUSE_MS = 1_000;

/** What the interface says of a search and a category. */
interface Summary {
  counts: Record<Exclude<Tab, "">, number>;
  similarNames: string[];
}

interface Counted extends Summary {
  filter: Filter;
  /** How many animals are removed, whatever the filter. */
  removed: number;
  /** The position of the oldest response. */
  at: string;
}

const counted = signal<Counted | undefined>(undefined);

/** Counts what the reader searches for now. */
async function count(): Promise<void> {
  const filter = wanted.value;
  let path: string | undefined = `pets/summary?${summaryQueryOf(filter)}`;
  const removal = await readNow("pets?limit=1&removed=true");
  const removed = Number(removal.headers.get("x-total-count"));
  let sum: Counted | undefined;
  while (path !== undefined && isSameSearch(filter, wanted.value)) {
    const { body, at, nextPage }: Awaited<ReturnType<typeof readNow<Summary>>> = await readNow(
      path,
    );
    sum = sum === undefined ? { ...body, filter, removed, at } : added(sum, body);
    path = nextPage;
  }
  if (sum === undefined || path !== undefined) return;
  const known = counted.value;
  const isOlder = known !== undefined && isSameSearch(known.filter, filter) && known.at > sum.at;
  if (!isOlder) counted.value = sum;
}

/** The search and the category of a filter, which the tabs share. */
function summaryQueryOf({ q, categoryId }: Filter): URLSearchParams {
  const query = Object.entries({ q, categoryId }).filter(([, value]) => value !== "");
  return new URLSearchParams(query);
}

function isSameSearch(one: Filter, other: Filter): boolean {
  return one.q === other.q && one.categoryId === other.categoryId;
}

/** A large store is counted in parts. */
function added(sum: Counted, { counts: more, similarNames }: Summary): Counted {
  const both = Object.entries(sum.counts).map(([status, ofStatus]) => {
    return [status, ofStatus + more[status as keyof typeof more]];
  });
  return {
    ...sum,
    counts: Object.fromEntries(both),
    similarNames: [...sum.similarNames, ...similarNames],
  };
}

/** Counts again after events. */
export const countsQuery = new Query(count, PAUSE_MS);

/** Counts another search at once. */
export const searchCountsQuery = new Query(count);

/** What was counted for the filter; `undefined` before that. */
const known = computed(() => {
  const { value } = counted;
  return value !== undefined && isSameSearch(value.filter, wanted.value) ? value : undefined;
});

/** The numbers of animals by tabs, and of the removed ones; none before they are counted. */
export const counts = computed<Partial<Record<Tab | "removed", number>>>(() => {
  const removed = counted.value?.removed;
  if (known.value === undefined) return { removed };
  const byStatus = known.value.counts;
  const byId = animalByIdAlone();
  const numbers = TABS.map(({ tab }) => {
    const ofTab = tab === "" ? sumOf(byStatus) : byStatus[tab];
    const isThere = byId !== undefined && isInTab(tab, byId.status);
    return [tab, isThere ? ofTab + 1 : ofTab];
  });
  return { ...Object.fromEntries(numbers), removed };
});

function sumOf(byStatus: Summary["counts"]): number {
  return Object.values(byStatus).reduce((sum, ofStatus) => sum + ofStatus, 0);
}

/** The animal that the search finds by its id alone, which the interface does not count. */
function animalByIdAlone() {
  const filter = wanted.value;
  const id = searchedId(filter.q);
  const pet = id === undefined || isRemoved(id) ? undefined : petOf(id);
  if (pet === undefined || hasSearchedWords(pet, filter.q)) return undefined;
  return matches(pet, { ...filter, status: "" }) ? pet : undefined;
}

/** How many animals the list has; `undefined` before the page knows it. */
export const countOfList = computed(() =>
  hasMore.value ? counts.value[wanted.value.status] : loadedCount.value
);

/** Names of animals that a search without results may have meant. */
export const similarNames = computed(() => known.value?.similarNames ?? []);
