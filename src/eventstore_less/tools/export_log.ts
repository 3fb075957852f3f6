import { acceptLog } from "../log/accept_store.ts";
import { EMPTY_HEAD, readHead } from "../log/head.ts";
import { readEvent } from "../log/lines.ts";
import { readLog } from "../log/read_log.ts";
import { joinLines } from "../encoding/pack_lines.ts";
import { openToRead, patientStore } from "./open_to_read.ts";
import { type Progress, type Step, stepOf, type ToolOptions } from "./tool_options.ts";
import type { StoreAt, ToolStore } from "./tool_store.ts";
import { type DamagedLog, readableLines } from "./verify/readable_log.ts";

/** The part of a log, by its first and its last position. By default, it begins with the first event and ends with the last. */
export interface ExportRange extends ToolOptions<Progress<"export">> {
  /** The first position; by default 1. */
  from?: number;
  /** The last position; by default that of the last event. */
  to?: number;
  /** Not set: the log must be complete. */
  recover?: false;
}

/**
 * Every line of a log that can be read, sound or not, whatever its head says. Of the file at a location, these are all lines
 * that its pages and its write-ahead log still hold, also if a part of the file is lost.
 */
export interface ExportRecovery extends ToolOptions<Progress<"export">> {
  /** Set: what cannot be read is left out. */
  recover: true;
}

/** What an export has read. */
export interface ExportReport {
  /** Position of the last line that was read; 0 without one. */
  position: number;
  /** The positions that could not be read. Without `recover`, there are none. */
  missing: readonly { from: number; to: number }[];
}

/**
 * Yields the log as bytes, one line after the other, each with a line feed, exactly as stored; the end has a report. The
 * chunks end with a line. Rejects with `LogDamagedError` or `StoreRefusedError` if the log is not complete, unless it
 * recovers.
 *
 * ```ts
 * await pipeline(exportLog(store), createWriteStream("bookings.jsonl"));
 * ```
 */
export async function* exportLog(
  log: ToolStore | StoreAt,
  options: ExportRange | ExportRecovery = {},
): AsyncGenerator<Uint8Array, ExportReport> {
  const step = stepOf(options);
  using reader = await openToRead(log);
  const { application } = reader;
  const store = patientStore(reader);
  const { path } = reader;
  if (options.recover) return yield* readableChunks({ application, store, path }, step);
  const { from = 1, to = Infinity } = options;
  await acceptLog(application, store);
  const { position: end } = (await readHead(application, store)).head;
  const total = Math.min(to, end);
  for await (const batch of readLog(store, { from, to: total })) {
    yield joinLines(batch.map(({ line }) => line));
    step({ phase: "export", done: batch.at(-1)!.position, total });
  }
  return { position: total, missing: [] };
}

async function* readableChunks(
  log: DamagedLog,
  step: Step<Progress<"export">>,
): AsyncGenerator<Uint8Array, ExportReport> {
  const { application, store } = log;
  const missing: { from: number; to: number }[] = [];
  let position = 0;
  const noteGapBefore = (next: number) => {
    if (next > position + 1) missing.push({ from: position + 1, to: next - 1 });
  };
  for await (const batch of readableLines(log)) {
    const lines = batch.map(({ line }) => line);
    yield joinLines(lines);
    for (const { position: at, line } of batch) {
      const read = readEvent(application, line);
      const isTheEvent = "position" in read && read.position === at;
      if (!isTheEvent) continue;
      noteGapBefore(at);
      position = Math.max(position, at);
    }
    step({ phase: "export", done: position });
  }
  // Without a head, nothing says whether there were lines after the last one.
  const { head } = await readHead(application, store).catch(() => ({ head: EMPTY_HEAD }));
  noteGapBefore(head.position + 1);
  return { position, missing };
}
