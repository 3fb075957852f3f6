import type { PublishedFile, PublishFolder } from "../../../scripts/publish/publish_log.ts";

/** A crash before one of the changes of a {@linkcode MemoryFolder}. */
export class Crash extends Error {}

/** A published folder in memory. It can crash before each of its changes, one file at a time. */
export class MemoryFolder implements PublishFolder {
  readonly files = new Map<string, Uint8Array>();
  #staged = new Map<string, Uint8Array>();
  /** Number of changes to make before the crash. */
  changesLeft = Infinity;

  /** A copy of the published files, without those that are staged. */
  copy(): MemoryFolder {
    const folder = new MemoryFolder();
    for (const [path, content] of this.files) folder.files.set(path, content);
    return folder;
  }

  read = (path: string) => this.#staged.get(path) ?? this.files.get(path);

  text(path: string): string {
    return new TextDecoder().decode(this.files.get(path));
  }

  // deno-lint-ignore require-await
  async stage(files: PublishedFile[]): Promise<void> {
    for (const { path, content } of files) this.#staged.set(path, content);
  }

  // deno-lint-ignore require-await
  async publishStaged(): Promise<void> {
    for (const [path, content] of this.#staged) {
      this.#change();
      this.files.set(path, content);
    }
    this.#staged.clear();
  }

  // deno-lint-ignore require-await
  async removeFolder(folder: string): Promise<void> {
    for (const path of [...this.files.keys()]) {
      if (!path.startsWith(`${folder}/`)) continue;
      this.#change();
      this.files.delete(path);
    }
  }

  #change(): void {
    if (this.changesLeft-- <= 0) throw new Crash("The process was killed");
  }
}
