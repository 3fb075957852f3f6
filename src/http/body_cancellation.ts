/**
 * Tells all readers of bodies to stop waiting. An `AbortSignal` would work too, but it costs each request a
 * listener, and a search through all listeners to remove it.
 */
export class BodyCancellation {
  #isMade = false;
  #waiting = new Set<() => void>();

  /**
   * Calls `onCut` on cancellation, or at once if that has happened. The returned function unregisters
   * `onCut`.
   */
  wait(onCut: () => void): () => void {
    if (this.#isMade) onCut();
    else this.#waiting.add(onCut);
    return () => void this.#waiting.delete(onCut);
  }

  cancel(): void {
    this.#isMade = true;
    for (const onCut of this.#waiting) onCut();
    this.#waiting.clear();
  }
}
