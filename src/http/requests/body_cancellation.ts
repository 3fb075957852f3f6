/**
 * Tells all readers of bodies to stop waiting. An `AbortSignal` would work too, but it costs each request a
 * listener, and a search through all listeners to remove it.
 */
export class BodyCancellation {
  #isCancelled = false;
  #waiting = new Set<() => void>();

  /**
   * Calls `onCancel` on cancellation, or at once if that has happened. The returned function unregisters
   * `onCancel`.
   */
  wait(onCancel: () => void): () => void {
    if (this.#isCancelled) onCancel();
    else this.#waiting.add(onCancel);
    return () => void this.#waiting.delete(onCancel);
  }

  cancel(): void {
    this.#isCancelled = true;
    for (const onCancel of this.#waiting) onCancel();
    this.#waiting.clear();
  }
}
