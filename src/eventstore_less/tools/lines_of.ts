import { readHead } from "../log/head.ts";
import { splitLines } from "../log/lines.ts";
import { readLog } from "../log/read_log.ts";
import { createReadStream } from "node:fs";
import { patientStore } from "./open_to_read.ts";
import type { Export, ExportedLog, ToolStore } from "./tool_store.ts";

const CHUNK_BYTES = 256 * 1024;

/** The lines of a store up to its head, or of an export, from a position on, in batches. */
export async function* linesOf(
  log: ToolStore | ExportedLog,
  from = 1,
): AsyncGenerator<Uint8Array[]> {
  if ("source" in log) {
    yield* linesOfExport(exportOf(log.source), from);
    return;
  }
  const store = patientStore(log);
  const { position } = (await readHead(log.application, store)).head;
  for await (const batch of readLog(store, { from, to: position })) {
    yield batch.map(({ line }) => line);
  }
}

/** What reads an export: a file by its path. */
export function exportOf(source: string | Export): Export {
  if (typeof source === "function") return source;
  return () => createReadStream(source, { highWaterMark: CHUNK_BYTES });
}

async function* linesOfExport(source: Export, from: number): AsyncGenerator<Uint8Array[]> {
  let skip = from - 1;
  for await (const lines of splitLines(source())) {
    if (skip < lines.length) yield lines.slice(skip);
    skip = Math.max(0, skip - lines.length);
  }
}
