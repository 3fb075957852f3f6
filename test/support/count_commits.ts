import { LOG_PREFIX, logKey } from "../../src/keyspace.ts";
import { scan } from "../../src/store/scan.ts";
import type { Store } from "../../src/store/store.ts";

/** The number of commits that wrote the log from a position on. The records of a commit share a versionstamp. */
export async function countCommits(store: Store, from = 1): Promise<number> {
  const entries = scan(store, { prefix: LOG_PREFIX, start: logKey(from) });
  const versionstamps = new Set<string>();
  for await (const batch of entries) {
    for (const { versionstamp } of batch) versionstamps.add(versionstamp);
  }
  return versionstamps.size;
}
