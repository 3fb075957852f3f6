/**
 * The imports of the last day in the IndexedDB of the browser, for each API key by its id. A browser that keeps nothing
 * for the page remembers none.
 */

import { serviceTime } from "../parts/clock.ts";
import { type PastImport, type PastLine, REMEMBERED_MS } from "./past_import.ts";

/** Stores at other paths of this host have databases of their own. */
const DATABASE = `imports ${location.pathname}`;
const HEADS = "imports";
const LINES = "lines";
/** More lines are not remembered. */
export const LINES_MAX = 100_000;
const IMPORTS_MAX = 20;

/** An import without its lines. */
interface Head {
  id: string;
  /** The id of the API key. */
  owner: string;
  fileName: string;
  startedAt: number;
}

/** Some lines of an import. */
interface Part {
  /** Assigned by the browser. */
  number?: number;
  importId: string;
  lines: PastLine[];
}

/** Resolves to the imports of an API key, the first one first, and forgets those that are older than a day. */
export function readImports(owner: string): Promise<PastImport[]> {
  return withDatabase(async (database) => {
    const heads: Head[] = await resultOf(storeOf(database, HEADS).getAll());
    const inOrder = heads.toSorted((a, b) => a.startedAt - b.startedAt);
    const old = inOrder.filter(({ startedAt }) => serviceTime() - startedAt > REMEMBERED_MS);
    const more = inOrder.slice(0, -IMPORTS_MAX);
    const forgotten = new Set([...old, ...more].map(({ id }) => id));
    for (const id of forgotten) await forget(database, id);
    const own = inOrder.filter((it) => it.owner === owner && !forgotten.has(it.id));
    const parts: Part[] = await resultOf(storeOf(database, LINES).getAll());
    const byImport = Map.groupBy(parts, ({ importId }) => importId);
    return own.map(({ id, fileName, startedAt }) => ({
      id,
      fileName,
      startedAt,
      lines: byImport.get(id)?.flatMap(({ lines }) => lines) ?? [],
    }));
  });
}

export async function addImport(head: Head): Promise<void> {
  await withDatabase((database) => resultOf(storeOf(database, HEADS).put(head)));
}

export async function addLines(importId: string, lines: PastLine[]): Promise<void> {
  const part: Part = { importId, lines };
  await withDatabase((database) => resultOf(storeOf(database, LINES).add(part)));
}

/** Notes how lines have ended, by the ids of their animals. */
export function endLines(
  importId: string,
  endOf: (line: PastLine) => PastLine["end"],
): Promise<void> {
  return withDatabase(async (database) => {
    const parts: Part[] = await resultOf(storeOf(database, LINES).getAll());
    for (const part of parts.filter((it) => it.importId === importId)) {
      const lines = part.lines.map((line) => ({ ...line, end: line.end ?? endOf(line) }));
      await resultOf(storeOf(database, LINES).put({ ...part, lines }));
    }
  });
}

async function forget(database: IDBDatabase, id: string): Promise<void> {
  await resultOf(storeOf(database, HEADS).delete(id));
  const parts: Part[] = await resultOf(storeOf(database, LINES).getAll());
  for (const { importId, number } of parts) {
    if (importId === id) await resultOf(storeOf(database, LINES).delete(number!));
  }
}

/** A store of the database, in a transaction of its own. */
function storeOf(database: IDBDatabase, name: string): IDBObjectStore {
  return database.transaction(name, "readwrite").objectStore(name);
}

async function withDatabase<Result>(
  action: (database: IDBDatabase) => Promise<Result>,
): Promise<Result> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore(HEADS, { keyPath: "id" });
    opening.result.createObjectStore(LINES, { keyPath: "number", autoIncrement: true });
  };
  const database = await resultOf(opening);
  try {
    return await action(database);
  } finally {
    database.close();
  }
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
