/**
 * Tells all that wait for a body to wait no longer. An `AbortSignal` would do as well, but each request
 * would pay for a listener, and look through those of all others to take its own away.
 */
export class BodyCancellation {
  #isMade = false;
  #waiting = new Set<() => void>();

  /** Calls `onCut` when bodies are cut, or at once where they are; not after the function returned was called. */
  wait(onCut: () => void): () => void {
    if (this.#isMade) onCut();
    else this.#waiting.add(onCut);
    return () => void this.#waiting.delete(onCut);
  }

  make(): void {
    this.#isMade = true;
    for (const onCut of this.#waiting) onCut();
    this.#waiting.clear();
  }
}
