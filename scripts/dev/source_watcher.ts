/** Time without a further change, in milliseconds, after which a change is complete: editors write in steps. */
const CALM_MS = 100;

/** Waits for changes of source files. */
export class SourceWatcher {
  #change = Promise.withResolvers<"changed">();

  constructor(folders: string[]) {
    this.#watch(folders);
  }

  /** Resolves after the first change that no earlier call has reported. */
  async nextChange(): Promise<"changed"> {
    const change = await this.#change.promise;
    this.#change = Promise.withResolvers();
    return change;
  }

  async #watch(folders: string[]): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    for await (const { kind, paths } of Deno.watchFs(folders)) {
      if (kind === "access" || !paths.some((path) => /\.(css|html|js|ts)$/.test(path))) continue;
      clearTimeout(timer);
      timer = setTimeout(() => this.#change.resolve("changed"), CALM_MS);
    }
  }
}
