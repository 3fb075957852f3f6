/** A call of a store failed. The subclasses say what it did, and whether another attempt can help. */
export abstract class StoreError extends Error {
  /** Whether the lasting condition is already logged, so that the calls that it fails are not. */
  readonly isLogged: boolean;

  constructor(message: string, options?: ErrorOptions & { isLogged?: boolean }) {
    super(message, options);
    this.name = new.target.name;
    this.isLogged = options?.isLogged ?? false;
  }
}

/** The call had no effect and may be repeated at once, for example after a lock or a serialization failure. */
export class NotAppliedError extends StoreError {}

/** The call may have had its effect: a commit may have landed, or may still land. */
export class UnclearOutcomeError extends StoreError {}

/** The store was closed before it answered, or before the call. */
export class StoreClosedError extends UnclearOutcomeError {
  constructor() {
    super("The service is shutting down");
  }
}

/** The store cannot be reached. Nothing was sent. */
export class StoreAwayError extends StoreError {}

/** Nothing was stored, and another attempt does not help: no rights, another program's data, too large a commit. */
export class StoreRefusedError extends StoreError {}

/** The reason to refuse a store of another version of this program: what shows it, and what to do. */
export function otherVersionReason(shown: string, newerVersion: string | undefined): string {
  return newerVersion === undefined
    ? `${shown}, of an older version; export it with that version (deno task log > pets.jsonl), ` +
      "then restore the export into a new store with this one"
    : `${shown}, of the newer version ${newerVersion}; use that version or a later one`;
}

/** The disk of the store is full, so a commit stored nothing. Reads still work. */
export class StoreFullError extends StoreRefusedError {
  constructor(options?: ErrorOptions) {
    super("The disk of the store is full, so nothing was stored", { ...options, isLogged: true });
  }
}

/** The file of the store is damaged: SQLite or Deno KV cannot read a part of it. Nothing was stored. */
export class StoreDamagedError extends StoreRefusedError {
  /** The words of SQLite or Deno KV. They are not for clients. */
  readonly reason: string;

  constructor(reason: string) {
    super("The store's file is damaged", { cause: `${reason}; run deno task audit` });
    this.reason = reason;
  }
}

export function mayHaveLanded(error: unknown): boolean {
  return !(error instanceof StoreError) || error instanceof UnclearOutcomeError;
}
