import type { Instance } from "eventstore-less";
import type { StoredLine } from "eventstore-less/parts";
import { statOf } from "eventstore-less/store";
import { type ExportedLog, followLog, type ToolStore } from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { type FileHandle, open } from "node:fs/promises";
import process from "node:process";
import { say, withStore } from "./run_command.ts";

/** Calls `use` with the log of the configured store or of an export (- for standard input). */
export async function withLog<T>(
  file: string | undefined,
  use: (log: ToolStore | ExportedLog) => Promise<T>,
): Promise<T> {
  return file === undefined ? await withStore(use) : await use(await exportAt(file));
}

/** An export in a file, or from standard input (-), that is read once. */
export async function exportAt(file: string): Promise<ExportedLog> {
  const stream = file === "-" ? process.stdin : (await openInput(file)).createReadStream();
  return { application: APPLICATION, source: () => stream };
}

export async function openInput(path: string): Promise<FileHandle> {
  const found = await statOf(path);
  if (found === undefined) throw new Error(`${path} does not exist`);
  if (found.isDirectory()) throw new Error(`${path} is a folder, not a file`);
  return await open(path);
}

/** Says that a store that is followed is away, and that it is back. */
export function sayReachable(isThere: boolean, reason?: string): void {
  if (isThere) say("The store is available again.");
  else say(`${reason}; waiting until the store answers again`);
}

export function followStore(
  { store, heads, runtime }: Instance,
  range: Parameters<typeof followLog>[1],
): AsyncIterable<StoredLine[]> {
  return followLog({ store, heads, runtime, reachable: sayReachable }, range);
}
