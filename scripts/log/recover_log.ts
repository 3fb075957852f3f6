import { HEAD_KEY } from "eventstore-less/keyspace.ts";
import { decodeHeadRecord } from "eventstore-less/log/head.ts";
import type { Store } from "eventstore-less/store/store.ts";
import type { FaultKind } from "../verify/advice.ts";
import { auditLog, linesOfRecords } from "../verify/audit.ts";
import { RefusedError } from "../cli/refused_error.ts";

/**
 * Finds the lines that verify in a store, whatever its head says, and the first fault after them. Nobody may write to it
 * meanwhile. Rejects with `RefusedError` if a newer version wrote one of the lines.
 */
export async function recoverLog(store: Store) {
  const { position, faults } = await auditLog(store);
  const firstOf = (kind: FaultKind) => faults.find((fault) => fault.kind === kind);
  const [badLine, newerLine] = [firstOf("line"), firstOf("newer_line")];
  const events = Math.min(position, (badLine?.position ?? Infinity) - 1);
  // A bad line may look like one of a newer version.
  if (newerLine !== undefined && newerLine.position! <= events) {
    throw new RefusedError(`${newerLine.message}; use that version`);
  }
  const fault = faults[0]?.message ?? (events === 0 ? "The store has no log" : undefined);
  if (fault !== undefined) await expectOwnFormat(store);
  return { events, fault, lines: () => firstLines(store, events) };
}

/** Throws `RefusedError` if the head names another format, because this version cannot tell what is wrong with that. */
async function expectOwnFormat(store: Store): Promise<void> {
  const head = await store.get(HEAD_KEY).catch(() => null);
  const record = decodeHeadRecord(head?.value);
  if (record.kind !== "other_format") return;
  throw new RefusedError(`The log cannot be recovered with this version: ${record.message}`);
}

async function* firstLines(store: Store, count: number): AsyncGenerator<Uint8Array[]> {
  if (count === 0) return;
  let position = 0;
  for await (const lines of linesOfRecords(store)) {
    yield lines.slice(0, count - position);
    position += lines.length;
    if (position >= count) return;
  }
}
