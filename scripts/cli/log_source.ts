import type { Instance } from "eventstore-less";
import { readHead, readLog, splitLines, type StoredLine } from "eventstore-less/parts";
import { statOf } from "eventstore-less/store";
import type { ReadLines } from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { type FileHandle, open } from "node:fs/promises";
import process from "node:process";
import { followLog, type FollowRange } from "./follow_log.ts";
import { say, withRetryingStore } from "./run_command.ts";

export type { ReadLines };

/** Calls `use` with the log of the configured store or of an export (- for standard input). */
export async function withLog<T>(
  file: string | undefined,
  use: (readLines: ReadLines) => Promise<T>,
): Promise<T> {
  if (file !== undefined) return await use((from) => linesOfExport(file, from));
  return await withRetryingStore({}, async ({ store }) => {
    const { position } = (await readHead(APPLICATION, store)).head;
    return await use(async function* (from) {
      for await (const batch of readLog(store, { from, to: position })) {
        yield batch.map(({ line }) => line);
      }
    });
  });
}

async function* linesOfExport(file: string, from: number): AsyncGenerator<Uint8Array[]> {
  const stream = file === "-" ? process.stdin : (await openInput(file)).createReadStream();
  let skip = from - 1;
  for await (const lines of splitLines(stream)) {
    if (skip < lines.length) yield lines.slice(skip);
    skip = Math.max(0, skip - lines.length);
  }
}

export async function openInput(path: string): Promise<FileHandle> {
  const found = await statOf(path);
  if (found === undefined) throw new Error(`${path} does not exist`);
  if (found.isDirectory()) throw new Error(`${path} is a folder, not a file`);
  return await open(path);
}

export function followStore(instance: Instance, range: FollowRange): AsyncIterable<StoredLine[]> {
  const reachable = (isThere: boolean, reason?: string) => {
    if (isThere) say("The store is available again.");
    else say(`${reason}; waiting until the store answers again`);
  };
  return followLog({ ...instance, reachable }, range);
}
