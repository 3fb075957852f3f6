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
export async function readImports(owner: string): Promise<PastImport[]> {
  using database = await openDatabase();
  const heads: Head[] = await resultOf(database.of(HEADS).getAll());
  const inOrder = heads.toSorted((a, b) => a.startedAt - b.startedAt);
  const old = inOrder.filter(({ startedAt }) => serviceTime() - startedAt > REMEMBERED_MS);
  const more = inOrder.slice(0, -IMPORTS_MAX);
  const forgotten = new Set([...old, ...more].map(({ id }) => id));
  for (const id of forgotten) await forget(database, id);
  const own = inOrder.filter((it) => it.owner === owner && !forgotten.has(it.id));
  const parts: Part[] = await resultOf(database.of(LINES).getAll());
  const byImport = Map.groupBy(parts, ({ importId }) => importId);
  return own.map(({ id, fileName, startedAt }) => ({
    id,
    fileName,
    startedAt,
    lines: byImport.get(id)?.flatMap(({ lines }) => lines) ?? [],
  }));
}

export async function addImport(head: Head): Promise<void> {
  using database = await openDatabase();
  await resultOf(database.of(HEADS).put(head));
}

export async function addLines(importId: string, lines: PastLine[]): Promise<void> {
  using database = await openDatabase();
  const part: Part = { importId, lines };
  await resultOf(database.of(LINES).add(part));
}

/** Notes how lines have ended, by the ids of their animals. */
export async function endLines(
  importId: string,
  endOf: (line: PastLine) => PastLine["end"],
): Promise<void> {
  using database = await openDatabase();
  const parts: Part[] = await resultOf(database.of(LINES).getAll());
  for (const part of parts.filter((it) => it.importId === importId)) {
    const lines = part.lines.map((line) => ({ ...line, end: line.end ?? endOf(line) }));
    await resultOf(database.of(LINES).put({ ...part, lines }));
  }
}

async function forget(database: Database, id: string): Promise<void> {
  await resultOf(database.of(HEADS).delete(id));
  const parts: Part[] = await resultOf(database.of(LINES).getAll());
  for (const { importId, number } of parts) {
    if (importId === id) await resultOf(database.of(LINES).delete(number!));
  }
}

interface Database extends Disposable {
  /** A store of the database, in a transaction of its own. */
  of(name: string): IDBObjectStore;
}

async function openDatabase(): Promise<Database> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore(HEADS, { keyPath: "id" });
    opening.result.createObjectStore(LINES, { keyPath: "number", autoIncrement: true });
  };
  const database = await resultOf(opening);
  return {
    of: (name) => database.transaction(name, "readwrite").objectStore(name),
    [Symbol.dispose]: () => database.close(),
  };
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
