import { eventOf } from "../../src/log/lines.ts";
import { readLog } from "../../src/log/read_log.ts";
import type { Store } from "../../src/store/store.ts";

/** The time of the last event that each actor caused, up to a position. Rejects with `LogDamagedError`. */
export async function lastUses(
  store: Store,
  to: number,
  progress: (done: number, total: number) => void,
): Promise<Map<string, string>> {
  const uses = new Map<string, string>();
  for await (const lines of readLog(store, { from: 1, to })) {
    for (const { line } of lines) {
      const event = eventOf(line);
      if (event !== undefined) uses.set(event.actor, event.time);
    }
    progress(lines.at(-1)!.position, to);
  }
  return uses;
}
