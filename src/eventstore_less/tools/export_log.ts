import { acceptLog } from "../log/accept_store.ts";
import { EMPTY_HEAD, readHead } from "../log/head.ts";
import { readEvent } from "../log/lines.ts";
import { readLog } from "../log/read_log.ts";
import { joinLines } from "../encoding/pack_lines.ts";
import type { Store } from "../store/store.ts";
import type { Application } from "../application.ts";
import { openToRead, patientStore } from "./open_to_read.ts";
import { type Progress, type Step, stepOf, type ToolOptions } from "./tool_options.ts";
import type { StoreAt, ToolStore } from "./tool_store.ts";
import { readableRecords } from "./verify/readable_log.ts";

/** The part of a log, by its first and its last position. By default, it begins with the first event and ends with the last. */
export interface ExportRange extends ToolOptions<Progress<"export">> {
  from?: number;
  to?: number;
  recover?: false;
}

/** Every line of a log that can be read, sound or not, whatever its head says. */
export interface ExportRecovery extends ToolOptions<Progress<"export">> {
  recover: true;
}

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
  if (options.recover) return yield* readableChunks(application, store, step);
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
  application: Application,
  store: Store,
  step: Step<Progress<"export">>,
): AsyncGenerator<Uint8Array, ExportReport> {
  const missing: { from: number; to: number }[] = [];
  let position = 0;
  const noteGapBefore = (next: number) => {
    if (next > position + 1) missing.push({ from: position + 1, to: next - 1 });
  };
  for await (const records of readableRecords(store)) {
    const lines = records.flatMap((record) => record.lines);
    yield joinLines(lines);
    for (const line of lines) {
      const read = readEvent(application, line);
      if (!("position" in read)) continue;
      noteGapBefore(read.position);
      position = Math.max(position, read.position);
    }
    step({ phase: "export", done: position });
  }
  // Without a head, nothing says whether there were lines after the last one.
  const { head } = await readHead(application, store).catch(() => ({ head: EMPTY_HEAD }));
  noteGapBefore(head.position + 1);
  return { position, missing };
}
