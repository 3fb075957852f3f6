/** The folder that holds a published log. */

import { dirname, resolve } from "node:path";
import { LINE_LIMIT_BYTES } from "../../src/log/lines.ts";
import { RefusedError } from "../cli/refused_error.ts";
import { type ReadPublished, TILE_WIDTH } from "./tile_tree.ts";

/** Holds new files until all of them are published. */
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

/** Reads a file that is as long as a published one at most. Throws `RefusedError`, which names it. */
export function readRegularFile(path: string, name: string): Uint8Array {
  const { isFile, size } = Deno.statSync(path);
  if (!isFile || size > FILE_LIMIT_BYTES) throw irregularFileError(name);
  return Deno.readFileSync(path);
}

function irregularFileError(name: string): RefusedError {
  return new RefusedError(`${name} is not a regular file of at most ${FILE_LIMIT_BYTES} bytes`);
}

export interface PublishedFile {
  path: string;
  content: Uint8Array;
}

/** Writes to a folder, alone. New files are staged first, so that a refused or killed run publishes nothing. */
export class WritableFolder {
  #folder: string;
  #lock: Deno.FsFile;
  #staged = new Set<string>();

  private constructor(folder: string, lock: Deno.FsFile) {
    this.#folder = folder;
    this.#lock = lock;
  }

  /** Opens a folder, which is created if it is missing. Files that a killed run has staged are removed. */
  static async open(folder: string): Promise<WritableFolder> {
    await Deno.mkdir(folder, { recursive: true });
    const lock = await Deno.open(folder);
    if (!await lock.tryLock(true)) throw new Error(`Another process publishes in ${folder}`);
    const opened = new WritableFolder(folder, lock);
    await opened.removeFolder(STAGING);
    return opened;
  }

  /** Reads a staged file or, if there is none, a published one. */
  read: ReadPublished = (path) =>
    readPublished(this.#staged.has(path) ? `${this.#folder}/${STAGING}` : this.#folder)(path);

  /** Writes all files at the same time, so that the disk syncs them together. */
  async stage(files: PublishedFile[]): Promise<void> {
    await Promise.all(files.map(async ({ path, content }) => {
      const staged = `${STAGING}/${path}`;
      await Deno.mkdir(dirname(`${this.#folder}/${staged}`), { recursive: true });
      await Deno.writeFile(`${this.#folder}/${staged}`, content);
      await this.#sync(staged);
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
    for (const folder of folders) await this.#sync(folder);
    await this.#sync(".");
    await this.removeFolder(STAGING);
  }

  async removeFolder(path: string): Promise<void> {
    await Deno.remove(`${this.#folder}/${path}`, { recursive: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }

  /** Removes what a refused run has staged. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.removeFolder(STAGING);
    this.#lock.close();
  }

  /** Makes a file durable, or the names in a folder. */
  async #sync(path: string): Promise<void> {
    using opened = await Deno.open(`${this.#folder}/${path}`);
    await opened.sync();
  }
}
