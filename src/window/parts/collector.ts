/** Collects items, and passes them on together, so that the page is not drawn for each of them. */

/** Shortest time between two calls, in milliseconds. */
const PAUSE_MS = 250;

export class Collector<Item> {
  #onItems: (items: readonly Item[]) => void;
  #items: Item[] = [];
  #flushedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onItems` is called at most once in {@linkcode PAUSE_MS}. After a pause, it gets the first items at once. */
  constructor(onItems: (items: readonly Item[]) => void) {
    this.#onItems = onItems;
  }

  add(more: readonly Item[]): void {
    if (more.length === 0) return;
    this.#items.push(...more);
    const dueMs = this.#flushedAt + PAUSE_MS - performance.now();
    if (dueMs <= 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), dueMs);
  }

  /** Passes on the collected items now. */
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
