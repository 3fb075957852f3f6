import { rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { LINE_LIMIT_BYTES } from "eventstore-less/log/lines.ts";
import { RefusedError } from "../cli/refused_error.ts";
import { type ReadPublished, TILE_WIDTH } from "./tile_tree.ts";

/** Folder of new files until all of them are published. */
const STAGING = ".staging";

/** Size of the largest published file: a full bundle of lines, each with two bytes for its length. */
const FILE_LIMIT_BYTES = TILE_WIDTH * (2 + LINE_LIMIT_BYTES);

/** Reads the files of a published folder, which may come from anybody. */
export function readPublished(folder: string): ReadPublished {
  return (path) => {
    try {
      const file = `${folder}/${path}`;
      // A link could lead out of the folder.
      if (Deno.realPathSync(file) !== resolve(Deno.realPathSync(folder), path)) {
        throw irregularFileError(path);
      }
      return readRegularFile(file, path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  };
}

/** Throws `RefusedError`, with that name, unless it is a regular file, and not longer than a published one can be. */
export function readRegularFile(path: string, name: string): Uint8Array {
  const { isFile, size } = Deno.statSync(path);
  if (!isFile || size > FILE_LIMIT_BYTES) throw irregularFileError(name);
  return Deno.readFileSync(path);
}

function irregularFileError(name: string): RefusedError {
  return new RefusedError(`${name} is not a regular file of at most ${FILE_LIMIT_BYTES} bytes`);
}

/** Writes to a folder, alone. New files are staged first, so that a refused or killed run publishes nothing. */
export class WritableFolder {
  #folder: string;
  #lock: Deno.FsFile;
  #staged = new Set<string>();

  /** Creates the folder if it is missing, and removes files that a killed run has staged. */
  constructor(folder: string) {
    Deno.mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#lock = Deno.openSync(folder);
    const isAlone = this.#lock.tryLockSync(true);
    if (!isAlone) throw new Error(`Another process publishes in ${folder}`);
    this.remove(STAGING);
  }

  read: ReadPublished = (path) =>
    readPublished(this.#staged.has(path) ? `${this.#folder}/${STAGING}` : this.#folder)(path);

  /** Writes all files at the same time, so that the disk syncs them together. */
  async stage(files: [path: string, content: Uint8Array][]): Promise<void> {
    await Promise.all(files.map(async ([path, content]) => {
      const staged = `${this.#folder}/${STAGING}/${path}`;
      await Deno.mkdir(dirname(staged), { recursive: true });
      await Deno.writeFile(staged, content);
      await sync(staged);
      this.#staged.add(path);
    }));
  }

  /** Moves each staged file to its place atomically. Resolves when all are on disk. */
  async publishStaged(): Promise<void> {
    const folders = new Set<string>();
    for (const path of this.#staged) {
      await Deno.mkdir(`${this.#folder}/${dirname(path)}`, { recursive: true });
      Deno.renameSync(`${this.#folder}/${STAGING}/${path}`, `${this.#folder}/${path}`);
      for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
        folders.add(folder);
      }
    }
    this.#staged.clear();
    for (const folder of [...folders, "."]) await sync(`${this.#folder}/${folder}`);
    this.remove(STAGING);
  }

  remove(path: string): void {
    rmSync(`${this.#folder}/${path}`, { recursive: true, force: true });
  }

  /** Removes what a refused run has staged. */
  [Symbol.dispose](): void {
    this.remove(STAGING);
    // A process that another thread starts just now has a copy of the open file for a moment, which would keep the lock.
    this.#lock.unlockSync();
    this.#lock.close();
  }
}

/** Makes a file durable, or the names in a folder. */
async function sync(path: string): Promise<void> {
  using opened = await Deno.open(path);
  await opened.sync();
}
