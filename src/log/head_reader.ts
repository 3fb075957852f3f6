import type { Host } from "../host.ts";
import { HEAD_KEY } from "../store/layout.ts";
import type { Store } from "../store/store.ts";
import { type HeadEntry, headEntryOf } from "./head.ts";

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
