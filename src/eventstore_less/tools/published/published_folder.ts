import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { LINE_LIMIT_BYTES } from "../../log/lines.ts";
import { lockFile } from "../../runtime/file_lock.ts";
import { realPath } from "../../runtime/real_path.ts";
import { RefusedError } from "../refused_error.ts";
import { moveIntoPlace, syncPath } from "../replace_file.ts";
import { ToolError } from "../tool_error.ts";
import { type ReadPublished, TILE_WIDTH } from "./tile_tree.ts";

/** Folder of new files until all of them are published. */
const STAGING = ".staging";

/** Size of the largest published file: a full bundle of lines, each with two bytes for its length. */
const FILE_LIMIT_BYTES = TILE_WIDTH * (2 + LINE_LIMIT_BYTES);

/** Reads the files of a published folder, which may come from anybody. */
export function readPublished(name: string): ReadPublished {
  const folder = realPath(name);
  return (path) => {
    try {
      const file = `${folder}/${path}`;
      expectInside(folder, path);
      return readRegularFile(file, path);
    } catch (error) {
      if ((error as { code?: string }).code === "ENOENT") return undefined;
      throw error;
    }
  };
}

/** Throws if a symbolic link lies on the way from a folder to a path in it, because it could lead out. */
function expectInside(folder: string, path: string): void {
  const file = `${folder}/${path}`;
  if (realPath(file) === file) return;
  throw new RefusedError(
    "published_damaged",
    `${path} is a symbolic link, or behind one; a published folder has none`,
  );
}

/** Throws `RefusedError`, with that name, unless it is a regular file, and not longer than a published one can be. */
export function readRegularFile(path: string, name: string): Uint8Array {
  const found = statSync(path);
  if (!found.isFile() || found.size > FILE_LIMIT_BYTES) throw irregularFileError(name);
  return new Uint8Array(readFileSync(path));
}

function irregularFileError(name: string): RefusedError {
  return new RefusedError(
    "published_damaged",
    `${name} is not a regular file of at most ${FILE_LIMIT_BYTES} bytes`,
  );
}

/** Writes to a folder, alone. New files are staged first, so that a refused or killed run publishes nothing. */
export class WritableFolder {
  #folder: string;
  #lock: Disposable;
  #staged = new Set<string>();
  #readPlaced: ReadPublished;
  #readStaged: ReadPublished;

  /** Creates the folder if it is missing, and removes files that a killed run has staged. */
  constructor(name: string) {
    const folder = realPath(name);
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#readPlaced = readPublished(folder);
    this.#readStaged = readPublished(`${folder}/${STAGING}`);
    const lock = lockFile(folder);
    if (lock === undefined) {
      throw new ToolError("file_in_use", `Another process publishes in ${folder}`);
    }
    this.#lock = lock;
    this.remove(STAGING);
  }

  read: ReadPublished = (path) =>
    this.#staged.has(path) ? this.#readStaged(path) : this.#readPlaced(path);

  /** Writes all files at the same time, so that the disk syncs them together. */
  async stage(files: [path: string, content: Uint8Array][]): Promise<void> {
    await Promise.all(files.map(async ([path, content]) => {
      const staged = `${this.#folder}/${STAGING}/${path}`;
      await mkdir(dirname(staged), { recursive: true });
      await writeFile(staged, content);
      await syncPath(staged);
      this.#staged.add(path);
    }));
  }

  /** Moves each staged file to its place atomically. Resolves when all are on disk. */
  async publishStaged(): Promise<void> {
    const folders = new Set<string>();
    for (const path of this.#staged) {
      expectInside(this.#folder, dirname(path));
      await mkdir(`${this.#folder}/${dirname(path)}`, { recursive: true });
      await moveIntoPlace(`${this.#folder}/${STAGING}/${path}`, `${this.#folder}/${path}`);
      for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
        folders.add(folder);
      }
    }
    this.#staged.clear();
    for (const folder of [...folders, "."]) await syncPath(`${this.#folder}/${folder}`);
    this.remove(STAGING);
  }

  remove(path: string): void {
    rmSync(`${this.#folder}/${path}`, { recursive: true, force: true });
  }

  /** Removes what a refused run has staged. */
  [Symbol.dispose](): void {
    this.remove(STAGING);
    this.#lock[Symbol.dispose]();
  }
}
