/** How far a tool is. */
export interface Progress<Phase extends string = string> {
  phase: Phase;
  /** Number of events, records or seconds, as the phase says. It grows within the phase. */
  done: number;
  /** The number at the end of the phase; `undefined` if it is unknown. */
  total?: number;
}

export interface ToolOptions<Progressed = Progress> {
  /** Called from time to time. */
  onProgress?(progress: Progressed): void;
  /** Once it is aborted, the tool rejects with its reason, at the latest after the batch that is under way. */
  signal?: AbortSignal;
}

/** Reports progress, and throws the reason of a signal that is aborted. Tools call it after each batch. */
export type Step<Progressed = Progress> = (progress: Progressed) => void;

export function stepOf<Progressed>(
  { onProgress, signal }: ToolOptions<Progressed>,
): Step<Progressed> {
  signal?.throwIfAborted();
  return (progress) => {
    onProgress?.(progress);
    signal?.throwIfAborted();
  };
}
