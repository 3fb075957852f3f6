import { groupIntoCommits } from "../../store/commit_size.ts";
import type { Mutation, StoreLimits } from "../../store/store.ts";

/**
 * Writes items in order, as few commits as the limits allow, one at a time: while one is written, the items of the next
 * are gathered. `seal` makes a commit of consecutive items. No write is under way when it ends, also with an error.
 */
export async function writeInCommits<Item, Sealed extends { mutations: readonly Mutation[] }>(
  items: AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>,
  limits: StoreLimits,
  seal: (items: readonly Item[]) => Sealed,
  write: (sealed: Sealed) => Promise<unknown>,
): Promise<void> {
  let writing: Promise<unknown> = Promise.resolve();
  try {
    for await (const sealed of groupIntoCommits(items, seal, limits)) {
      await writing;
      writing = write(sealed);
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
}
