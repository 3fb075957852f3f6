import { isLogKey, logKey } from "../keyspace.ts";
import type { Store } from "../store/store.ts";
import { type Head, readHead } from "./head.ts";
import { linesOf } from "./read_log.ts";

/** Whether the log has lines after the head, although nobody appends. Such a head was put back, or garbled. */
export async function isHeadBehind(store: Store, { position }: Head): Promise<boolean> {
  const range = { start: logKey(position + 1), end: logKey(Number.MAX_SAFE_INTEGER) };
  const [entry] = await store.list(range, { limit: 1 });
  if (entry === undefined || !isLogKey(entry.key)) return false;
  // If the lines do not follow, another program wrote the record.
  const [first] = linesOf(entry.key[1], entry.value) ?? [];
  if (first === undefined || first.position > position + 1) return false;
  // An append stores its lines and a new head in one commit.
  return (await readHead(store)).head.position <= position;
}
