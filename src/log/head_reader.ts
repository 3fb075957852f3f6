import { ServiceError } from "../service_error.ts";
import type { Runtime } from "../runtime.ts";
import type { Logger } from "../logger.ts";
import { HEAD_KEY } from "../store/keyspace.ts";
import type { Store } from "../store/store.ts";
import { type Head, type HeadEntry, headEntryOf } from "./head.ts";

/**
 * How long what belongs to the generation of a head can be relied on to be there: as long as a request
 * takes at the most, and less than a replay waits before it removes a generation that was served.
 */
export const HEAD_LIMIT_MS = 9_000;

/** How long a head that was read or written last counts as recent. */
export const HEAD_RECENT_MS = 1_000;

/**
 * The head is missing, or older than one that this instance has seen. The store is at fault, and nothing
 * that it holds can be trusted.
 */
export class HeadLostError extends ServiceError {
  override name = "HeadLostError";

  constructor(message: string) {
    super("store_unavailable", message);
  }
}

/**
 * Fresh reads of the head, shared by all that wait. Who asks joins the *next* read, never one already
 * in flight, for that one may have looked before the asker's request began.
 */
export class HeadReader {
  #store: Store;
  #runtime: Runtime;
  #report: Logger;
  #latest: HeadEntry | undefined;
  /** When the store was last known to hold the latest head. */
  #latestSeenAt = -Infinity;
  #isLost = false;
  #inFlight: Promise<unknown> | undefined;
  #next: Promise<HeadEntry> | undefined;

  constructor(store: Store, runtime: Runtime, report: Logger = () => {}) {
    this.#store = store;
    this.#runtime = runtime;
    this.#report = report;
  }

  /** The newest head that this instance knows of: not fresh, good enough to try a commit on. */
  get latest(): HeadEntry | undefined {
    return this.#latest;
  }

  /** The latest head, if the store held it a moment ago: within {@linkcode HEAD_RECENT_MS}. */
  get recent(): Head | undefined {
    const isRecent = this.#runtime.monotonicNow() - this.#latestSeenAt <= HEAD_RECENT_MS;
    return isRecent ? this.#latest?.head : undefined;
  }

  /** The head as it stands at some moment after this call. Rejects as {@linkcode read} does. */
  fresh(): Promise<HeadEntry> {
    return this.#next ??= this.#readNext();
  }

  /**
   * Does work on a fresh head. Where that took beyond {@linkcode HEAD_LIMIT_MS}, as when the machine stood
   * still, a replay may have removed what was being read: whatever came of it is a `store_unavailable`.
   */
  async use<T>(work: (head: Head) => T | Promise<T>): Promise<T> {
    const start = this.#runtime.monotonicNow();
    const expectInTime = () => {
      if (this.#runtime.monotonicNow() - start <= HEAD_LIMIT_MS) return;
      throw new ServiceError(
        "store_unavailable",
        "The answer took so long that it may be out of date",
      );
    };
    let outcome: T;
    try {
      outcome = await work((await this.fresh()).head);
    } catch (error) {
      expectInTime();
      throw error;
    }
    expectInTime();
    return outcome;
  }

  /** Takes note of a head that was written or read elsewhere. */
  advance(entry: HeadEntry): void {
    if (this.#latest !== undefined && !isNewer(entry, this.#latest)) return;
    this.#latest = entry;
    this.#latestSeenAt = this.#runtime.monotonicNow();
  }

  /**
   * Reads the head, without sharing the read. Rejects with `HeadLostError`, and as
   * {@linkcode headEntryOf} does.
   */
  async read(): Promise<HeadEntry> {
    const known = this.#latest;
    const entry = await this.#store.get(HEAD_KEY);
    if (entry !== null && entry.versionstamp === this.#latest?.versionstamp) {
      this.#latestSeenAt = this.#runtime.monotonicNow();
      this.#noteFound();
      return this.#latest;
    }
    const read = headEntryOf(entry);
    this.#expectToFollow(read, known);
    this.advance(read);
    return read;
  }

  /** `known` is the latest head from before the read: a commit may have moved the head meanwhile. */
  #expectToFollow(read: HeadEntry, known: HeadEntry | undefined): void {
    if (known === undefined || known.versionstamp === null) return;
    const reason = whyNotAfter(read, known);
    if (reason === undefined) return this.#noteFound();
    if (!this.#isLost) {
      this.#report("error", "head_lost", {
        reason,
        remedy: "Stop the service and run deno task audit; if the store is not sound, restore it",
      });
    }
    this.#isLost = true;
    throw new HeadLostError(reason);
  }

  #noteFound(): void {
    if (this.#isLost) this.#report("info", "head_found");
    this.#isLost = false;
  }

  async #readNext(): Promise<HeadEntry> {
    await this.#inFlight;
    // A turn costs one request nothing to speak of, and lets all that are at the door come along.
    await this.#runtime.nextTurn();
    this.#next = undefined;
    const reading = this.read();
    this.#inFlight = reading.catch(() => {});
    return await reading;
  }
}

/** Why a head cannot come after one that was read earlier; `undefined` if it can. */
function whyNotAfter(
  { head, versionstamp }: HeadEntry,
  known: HeadEntry,
): string | undefined {
  const { position, lastHash } = known.head;
  const seen = `this instance has seen one at position ${position}`;
  if (versionstamp === null) return `The store's head record is missing, and ${seen}`;
  if (head.position < position || versionstamp < known.versionstamp!) {
    return `The store's head record is an older one, at position ${head.position}, and ${seen}`;
  }
  if (head.position === position && head.lastHash !== lastHash) {
    return `The store's head record is that of another log, and ${seen}`;
  }
}

function isNewer(one: HeadEntry, other: HeadEntry): boolean {
  return (one.versionstamp ?? "") > (other.versionstamp ?? "");
}
