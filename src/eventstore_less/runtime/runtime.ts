/** Time and randomness: everything that the service takes from its machine except the store. */
export interface Runtime {
  /** Milliseconds since the Unix epoch, by a clock that may be adjusted at any time. */
  now(): number;
  /** Milliseconds since an arbitrary moment, by a clock that is never adjusted. Use it for time limits. */
  monotonicNow(): number;
  /** Calls `run` once, `ms` milliseconds from now. Returns a function that cancels the call. */
  setTimer(ms: number, run: () => void): () => void;
  /** Resolves in the next turn of the event loop, after all events that are ready now. */
  nextTurn(): Promise<void>;
  /** A random number from 0 (inclusive) to 1 (exclusive). Not for secrets. */
  random(): number;
  /** Cryptographically secure random bytes, for secrets. */
  randomBytes(length: number): Uint8Array;
  /** A new ULID (https://github.com/ulid/spec). */
  newId(): string;
}

/** Resolves after so many milliseconds. */
export function sleep(runtime: Runtime, ms: number): Promise<void> {
  return new Promise((resolve) => runtime.setTimer(ms, resolve));
}

/** Applies a function to a value, without a promise if there is nothing to wait for: each promise costs every request. */
export function andThen<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The first and the longest delay between two attempts of a call, in milliseconds. */
const BACKOFF = { firstMs: 4, limitMs: 250 };

/** Delay before attempt 0, 1, 2 …, in milliseconds: a random part, from half to all, of a delay that doubles. */
export function backoffMs(
  runtime: Runtime,
  attempt: number,
  { firstMs, limitMs }: { firstMs: number; limitMs: number } = BACKOFF,
): number {
  const full = Math.min(limitMs, firstMs * 2 ** attempt);
  return full / 2 + runtime.random() * full / 2;
}
