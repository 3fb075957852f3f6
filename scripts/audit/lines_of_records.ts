import { isLogKey, logKey } from "../../src/keyspace.ts";
import { scan } from "../../src/store/scan.ts";
import type { Store } from "../../src/store/store.ts";
import { splitValue } from "./log_audit.ts";

const NOTHING = new Uint8Array(0);

/**
 * The lines that the records of a store's log hold, in the order of their keys, whatever the head says and whether or
 * not the lines are sound. A record without lines counts as an empty line. Rejects with `StoreDamagedError` at a damage of the file, after the lines before it.
 */
export async function* linesOfRecords(store: Store): AsyncGenerator<Uint8Array[]> {
  const range = { start: logKey(1), end: logKey(Number.MAX_SAFE_INTEGER) };
  for await (const entries of scan(store, range)) {
    yield entries.filter(({ key }) => isLogKey(key)).flatMap(({ value }) => {
      const lines = splitValue(value);
      return lines.length > 0 ? lines : [NOTHING];
    });
  }
}
