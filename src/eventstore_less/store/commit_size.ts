import type { Mutation, StoreLimits } from "./store.ts";

/** Space in a commit for the head, a mark or a claim, and for the overhead of the store. */
const RESERVE_BYTES = 16_384;
const RESERVE_MUTATIONS = 4;

/** The share of a commit that an estimate fills, because records of the same kind differ in size. */
const AIM = 0.99;

/** Number of items in the first commit that {@linkcode groupIntoCommits} tries. */
const FIRST_COUNT = 100;

/** Maximum number of items in a commit. Items that replace each other's records would otherwise gather without end. */
const COUNT_LIMIT = 5_000;

/** The part of a commit's limits that mutations take; at most 1 if they fit. Deno KV counts a key twice (measured). */
export function fillOf(mutations: readonly Mutation[], limits: StoreLimits): number {
  let keys = 0;
  let values = 0;
  for (const mutation of mutations) {
    for (const part of mutation.key) keys += typeof part === "string" ? part.length + 2 : 9;
    if (mutation.type === "set") values += mutation.value.length;
  }
  return Math.max(
    mutations.length / (limits.commitMutations - RESERVE_MUTATIONS),
    keys / (limits.commitKeyBytes - RESERVE_BYTES),
    (2 * keys + values) / (limits.commitBytes - RESERVE_BYTES),
  );
}

/**
 * Makes a commit of as many items as fit, at least one. `next` is how many such items the next one probably takes, and
 * `fill` the part of the limits that the commit takes: over 1 if a single item does not fit.
 */
export function sealCommit<Item, Sealed extends { mutations: readonly Mutation[] }>(
  items: readonly Item[],
  seal: (items: readonly Item[]) => Sealed,
  limits: StoreLimits,
): { sealed: Sealed; count: number; next: number; fill: number } {
  for (let count = items.length;;) {
    const sealed = seal(items.slice(0, count));
    const fill = fillOf(sealed.mutations, limits);
    const next = Math.max(1, Math.floor(AIM * count / fill));
    if (fill <= 1 || count === 1) return { sealed, count, next, fill };
    count = Math.min(next, count - 1);
  }
}

/** Makes commits of items, in order, each of as many as fit. */
export async function* groupIntoCommits<Item, Sealed extends { mutations: readonly Mutation[] }>(
  batches: AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>,
  seal: (items: readonly Item[]) => Sealed,
  limits: StoreLimits,
): AsyncGenerator<Sealed> {
  let waiting: Item[] = [];
  let next = FIRST_COUNT;
  const take = () => {
    const made = sealCommit(waiting.slice(0, next), seal, limits);
    waiting = waiting.slice(made.count);
    next = Math.min(made.next, COUNT_LIMIT);
    return made.sealed;
  };
  for await (const batch of batches) {
    waiting = waiting.concat(batch);
    while (waiting.length >= next) yield take();
  }
  while (waiting.length > 0) yield take();
}
