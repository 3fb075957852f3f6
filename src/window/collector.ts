/** Collects what comes one after the other, so that the page is drawn at most once in 250 ms, however much comes. */

const DRAW_MS = 250;

export class Collector<Item> {
  #onItems: (items: readonly Item[]) => void;
  #items: Item[] = [];
  #flushedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onItems` gets the items, at most once in the time. It gets the first one after a pause at once. */
  constructor(onItems: (items: readonly Item[]) => void) {
    this.#onItems = onItems;
  }

  add(more: readonly Item[]): void {
    if (more.length === 0) return;
    this.#items.push(...more);
    const dueMs = this.#flushedAt + DRAW_MS - performance.now();
    if (dueMs <= 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), dueMs);
  }

  /** Gives what is collected at once. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushedAt = performance.now();
    const items = this.#items;
    if (items.length === 0) return;
    this.#items = [];
    this.#onItems(items);
  }
}
