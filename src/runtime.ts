/** What the service takes from the machine it runs on, beside its store: time and randomness. */
export interface Runtime {
  /** Milliseconds since the Unix epoch, by a clock that may be set anew at any time. */
  now(): number;
  /** Milliseconds since some moment; never set anew, so that limits of time are kept. */
  monotonicNow(): number;
  /** Calls `run` once, `ms` milliseconds from now, unless the function returned is called first. */
  setTimer(ms: number, run: () => void): () => void;
  /** Resolves in the next turn of the event loop, when all that is ready by now has come in. */
  nextTurn(): Promise<void>;
  /** A number from 0 up to, but not including, 1. Not for secrets. */
  random(): number;
  /** Bytes that nobody can guess, for secrets. */
  randomBytes(length: number): Uint8Array;
  /** A new ULID (https://github.com/ulid/spec). */
  newId(): string;
}

export function sleep(runtime: Runtime, ms: number): Promise<void> {
  return new Promise((resolve) => runtime.setTimer(ms, resolve));
}

/** How long to wait before try number `attempt` (0, 1, 2 …): doubles up to a limit, the half of it by chance. */
export function backoffMs(runtime: Runtime, attempt: number): number {
  const full = Math.min(BACKOFF_LIMIT_MS, BACKOFF_FIRST_MS * 2 ** attempt);
  return full / 2 + runtime.random() * full / 2;
}

const BACKOFF_FIRST_MS = 4;
/** The longest wait between two tries. */
export const BACKOFF_LIMIT_MS = 250;
