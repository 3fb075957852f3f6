import { Failure } from "../failure.ts";
import type { Host } from "../host.ts";
import { HEAD_KEY } from "../store/layout.ts";
import type { Store } from "../store/store.ts";
import { type Head, type HeadEntry, headEntryOf } from "./head.ts";

/**
 * How long what belongs to the generation of a head can be relied on to be there: as long as a request
 * takes at the most, and less than a replay waits before it removes a generation that was served.
 */
export const HEAD_LIMIT_MS = 9_000;

/**
 * Fresh reads of the head, shared by all that wait. Who asks joins the *next* read, never one already
 * in flight, for that one may have looked before the asker's request began.
 */
export class HeadReader {
  #store: Store;
  #host: Host;
  #latest: HeadEntry | undefined;
  #inFlight: Promise<unknown> | undefined;
  #next: Promise<HeadEntry> | undefined;

  constructor(store: Store, host: Host) {
    this.#store = store;
    this.#host = host;
  }

  /** The newest head that this instance knows of: not fresh, good enough to try a commit on. */
  get latest(): HeadEntry | undefined {
    return this.#latest;
  }

  /** The head as it stands at some moment after this call. */
  fresh(): Promise<HeadEntry> {
    return this.#next ??= this.#readNext();
  }

  /**
   * Does work on a fresh head. Where that took beyond {@linkcode HEAD_LIMIT_MS}, as when the machine stood
   * still, a replay may have removed what was being read: whatever came of it is a `store_unavailable`.
   */
  async use<T>(work: (head: Head) => T | Promise<T>): Promise<T> {
    const start = this.#host.uptime();
    const expectInTime = () => {
      if (this.#host.uptime() - start <= HEAD_LIMIT_MS) return;
      throw new Failure("store_unavailable", "The answer took so long that it may be out of date");
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
    if (this.#latest === undefined || isNewer(entry, this.#latest)) this.#latest = entry;
  }

  async #readNext(): Promise<HeadEntry> {
    await this.#inFlight;
    // A turn costs one request nothing to speak of, and lets all that are at the door come along.
    await this.#host.turn();
    this.#next = undefined;
    const reading = this.#read();
    this.#inFlight = reading.catch(() => {});
    return await reading;
  }

  async #read(): Promise<HeadEntry> {
    const entry = await this.#store.get(HEAD_KEY);
    if (entry !== null && entry.versionstamp === this.#latest?.versionstamp) return this.#latest;
    const read = headEntryOf(entry);
    this.advance(read);
    return read;
  }
}

function isNewer(one: HeadEntry, other: HeadEntry): boolean {
  return (one.versionstamp ?? "") > (other.versionstamp ?? "");
}
