import { words } from "../words.ts";

/** A call of a store failed. The subclasses say what it did, and whether another attempt can help. */
export abstract class StoreError extends Error {
  /** Whether the lasting condition is already logged, so that the calls that it fails are not. */
  readonly isLogged: boolean;

  /** `options.cause` is for operators: it is logged, and not for clients. */
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
  /** Has one message. */
  constructor() {
    super("The service is shutting down");
  }
}

/** The store cannot be reached. Nothing was sent. */
export class StoreAwayError extends StoreError {}

/** The primary commits nothing until a standby has stored it, too. Anyone may see the message. */
export class StandbyAwaitedError extends StoreAwayError {}

/** The part of an error that says that the store waits for a standby; `undefined` if it has another reason. */
export function standbyAwaitedIn(error: unknown): StandbyAwaitedError | undefined {
  if (error instanceof StandbyAwaitedError) return error;
  return error instanceof Error ? standbyAwaitedIn(error.cause) : undefined;
}

/** Nothing was stored, and another attempt does not help: no rights, another program's data, too large a commit. */
export class StoreRefusedError extends StoreError {}

/** The reason to refuse a store that is missing or empty: what shows it, and what to do. */
export function noStoreReason(shown: string): string {
  return `${shown}; if there should be data, correct the setting, or mount the disk of the store; ` +
    `if not, make the store with ${words().makeStore}, or restore`;
}

/** The reason to refuse a store of an older format: what shows it, and what to do. */
export function olderFormatReason(shown: string): string {
  return `${shown}, of an older version; export it with that version (${words().exportLog}), ` +
    "then restore the export into a new store with this one";
}

/** A lasting reason why the file of a store cannot be written. Reads may still work. */
export interface WriteFault {
  /** The event in the log. */
  readonly event: "storage_full" | "storage_read_only" | "storage_failing";
  /** The fault, as a part of a sentence. */
  readonly reason: string;
  /** The advice for an operator, as a part of a sentence. */
  readonly remedy: string;
}

const FREE_SPACE = "free space on it";
const PERMIT_WRITES =
  "mount it to be written, or permit this user to write the file and its folder";
const READ_A_COPY = "to read it, copy all its files into a folder that can be written";
const CHECK_DISK =
  "read the system's log, and check the disk and its file system, which may have " +
  "turned read-only";

/** The disk of the store is full, so a commit stored nothing. */
export class StoreFullError extends StoreRefusedError implements WriteFault {
  /** The event in the log. */
  readonly event: "storage_full" = "storage_full";
  /** The fault, as a part of a sentence. */
  readonly reason: string = "its disk is full";
  /** The advice for an operator, as a part of a sentence. */
  readonly remedy: string;

  /** `remedy` names the folder, if it is known. */
  constructor(remedy: string = FREE_SPACE) {
    super("The disk of the store is full, so nothing was stored", {
      cause: remedy,
      isLogged: true,
    });
    this.remedy = remedy;
  }
}

/** The file of the store cannot be opened to write, so a commit stored nothing. */
export class StoreReadOnlyError extends StoreRefusedError implements WriteFault {
  /** The event in the log. */
  readonly event: "storage_read_only" = "storage_read_only";
  /** The fault, as a part of a sentence. */
  readonly reason: string = "its file, its folder or its file system is read-only";
  /** The advice for an operator, as a part of a sentence. */
  readonly remedy: string;

  /** `toWrite` is the remedy that names the user and the folder, if they are known. */
  constructor(toWrite: string = PERMIT_WRITES) {
    const remedy = `${toWrite}; ${READ_A_COPY}`;
    super("The store is read-only, so nothing was stored", { cause: remedy, isLogged: true });
    this.remedy = remedy;
  }
}

/** The disk of the store failed, as a file system does that turns read-only. A commit may still be on the disk. */
export class StoreFailingError extends UnclearOutcomeError implements WriteFault {
  /** The event in the log. */
  readonly event: "storage_failing" = "storage_failing";
  /** The fault, as a part of a sentence. */
  readonly reason: string = "its disk fails (disk I/O error)";
  /** The advice for an operator, as a part of a sentence. */
  readonly remedy: string = CHECK_DISK;

  /** Has one message. */
  constructor() {
    super("The disk of the store fails", { cause: CHECK_DISK, isLogged: true });
  }
}

const WRITE_FAULTS = [StoreFullError, StoreReadOnlyError, StoreFailingError] as const;

export type WriteFaultError = InstanceType<typeof WRITE_FAULTS[number]>;

export function isWriteFault(error: unknown): error is WriteFaultError {
  return WRITE_FAULTS.some((it) => error instanceof it);
}

/** The file of the store is damaged: SQLite or Deno KV cannot read a part of it. Nothing was stored. */
export class StoreDamagedError extends StoreRefusedError {
  /** The words of SQLite or Deno KV. They are not for clients. */
  readonly reason: string;

  /** `reason` is in the words of SQLite or Deno KV. */
  constructor(reason: string) {
    super("The store's file is damaged", { cause: `${reason}; run ${words().audit}` });
    this.reason = reason;
  }
}

/** Whether a commit that failed with this error may have landed, or may still land. */
export function mayHaveLanded(error: unknown): boolean {
  return !(error instanceof StoreError) || error instanceof UnclearOutcomeError;
}
