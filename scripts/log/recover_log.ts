import type { Store } from "../../src/store/store.ts";
import { auditLog, linesOfRecords } from "../audit/audit.ts";
import { RefusedError } from "../cli/refused_error.ts";

/**
 * Verifies the log that the records of a store hold, whatever its head says. Nobody may write to the store
 * meanwhile. Resolves to the number of lines up to the last one that verifies, to the first fault after them,
 * if there is one, and to a reader of these lines in batches. Rejects with `RefusedError` if a newer version wrote some
 * of them, because this version cannot verify these.
 */
export async function recoverLog(store: Store) {
  const { position, faults } = await auditLog(store);
  const newer = faults.find(({ kind }) => kind === "newer_line");
  if (newer !== undefined) throw new RefusedError(`${newer.message}; use that version`);
  const badLine = faults.find(({ kind }) => kind === "line");
  const events = badLine === undefined ? position : badLine.position! - 1;
  const fault = faults[0]?.message ?? (events === 0 ? "The store has no log" : undefined);
  return { events, fault, lines: () => firstLines(store, events) };
}

async function* firstLines(store: Store, count: number): AsyncGenerator<Uint8Array[]> {
  let missing = count;
  if (missing === 0) return;
  for await (const lines of linesOfRecords(store)) {
    yield lines.slice(0, missing);
    missing -= lines.length;
    if (missing <= 0) return;
  }
}
