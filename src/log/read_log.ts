import { logKey } from "../store/layout.ts";
import { LIST_LIMIT, type Store } from "../store/store.ts";

/** A stored line and the position of its key. */
export interface StoredLine {
  position: number;
  /** What is stored; a sound line is a `Uint8Array` of UTF-8. */
  value: unknown;
}

/** The stored lines from one position to another, both included, in batches and in order. */
export async function* readLog(
  store: Store,
  { from = 1, to }: { from?: number; to: number },
): AsyncGenerator<StoredLine[]> {
  for (let start = from; start <= to;) {
    const range = { start: logKey(start), end: logKey(to + 1) };
    const entries = await store.list(range, { limit: LIST_LIMIT });
    if (entries.length === 0) return;
    const batch = entries.map(({ key, value }) => ({ position: key[1] as number, value }));
    yield batch;
    start = batch.at(-1)!.position + 1;
  }
}
