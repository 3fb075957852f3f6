import { logKey } from "../keyspace.ts";
import { scan } from "../store/scan.ts";
import type { Store } from "../store/store.ts";

/** A stored line and the position of its key. */
export interface StoredLine {
  position: number;
  /** The stored value. A sound line is a `Uint8Array` of UTF-8. */
  value: unknown;
}

/** Reads the stored lines from one position to another, both inclusive, in batches and in order. */
export async function* readLog(
  store: Store,
  { from = 1, to }: { from?: number; to: number },
): AsyncGenerator<StoredLine[]> {
  for await (const entries of scan(store, { start: logKey(from), end: logKey(to + 1) })) {
    yield entries.map(({ key, value }) => ({ position: key[1] as number, value }));
  }
}
