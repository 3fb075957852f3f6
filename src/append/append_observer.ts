/**
 * Observes the appender, for telemetry. A context identifies the caller of append(). One commit can
 * carry the commands of several callers, so the appender passes all their contexts.
 */
export interface AppendObserver<Context = unknown> {
  /** The context of the current caller. */
  context(): Context;
  /** Calls `run` in a context, or outside every context if it is `undefined`. */
  within<T>(context: Context | undefined, run: () => T): T;
  /** Runs a commit of `events` events, for the commands of these contexts. */
  commit<T>(contexts: Context[], events: number, run: () => Promise<T>): Promise<T>;
  landed(events: number): void;
  /** Another instance's commit moved the head first. */
  lost(): void;
  /** A commit failed in a way that does not show whether it landed. */
  unclear(): void;
}
