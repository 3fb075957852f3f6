import { words } from "../words.ts";
import type { Application } from "../application.ts";
import type { Head, ProjectionKey } from "../definitions.ts";
import { ServiceError } from "../service_error.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Logger } from "../runtime/logger.ts";
import { HEAD_KEY, projectionKey } from "../keyspace.ts";
import type { ListOptions, Snapshot, Store, StoreEntry } from "../store/store.ts";
import { type HeadEntry, headEntryOf } from "./head.ts";

/** Time for which a head may be used after it was read: shorter than `GRACE_MS` of a replay. */
export const HEAD_LIMIT_MS = 9_000;

/** How long a head counts as recent after the last read or write that confirmed it. */
export const HEAD_RECENT_MS = 1_000;

/** The head is missing, older than one that was seen, or of another log, so no data of the store can be trusted. */
export class HeadLostError extends ServiceError {}

/** The records of a generation from one key to another (exclusive). */
export interface ProjectionRange {
  /** The first key. */
  start: ProjectionKey;
  /** The key after the last one. */
  end: ProjectionKey;
}

/** Records that were read together with a head. They are as of that head. */
export interface HeadSnapshot extends Snapshot {
  /** The head at the moment of the reads. */
  head: Head;
}

/** Reads the head, and shares fresh reads between callers, as "Freshness" in eventstore_less/internals.md explains. */
export class HeadReader {
  #application: Application;
  #store: Store;
  #runtime: Runtime;
  #report: Logger;
  #latest: HeadEntry | undefined;
  /** When the store was last known to hold the latest head. */
  #latestSeenAt = -Infinity;
  #isLost = false;
  #inFlight: Promise<unknown> | undefined;
  #next: Promise<HeadEntry> | undefined;

  /** Reads nothing before the first call. By default, it logs nothing. */
  constructor(
    application: Application,
    store: Store,
    runtime: Runtime,
    report: Logger = () => {},
  ) {
    this.#application = application;
    this.#store = store;
    this.#runtime = runtime;
    this.#report = report;
  }

  /** The newest head that this instance knows. It may be stale, but a commit can be tried on it. */
  get latest(): HeadEntry | undefined {
    return this.#latest;
  }

  /** The latest head, if the store was known to hold it within the last {@linkcode HEAD_RECENT_MS}. */
  get recent(): Head | undefined {
    const isRecent = this.#runtime.monotonicNow() - this.#latestSeenAt <= HEAD_RECENT_MS;
    return isRecent ? this.#latest?.head : undefined;
  }

  /** Reads the head after this call, in a shared read. Rejects as {@linkcode read} does. */
  fresh(): Promise<HeadEntry> {
    return this.#next ??= this.#readNext();
  }

  /**
   * Runs `work` on a fresh head. Rejects with `store_unavailable` if this took too long, as on a suspended machine: a
   * replay may have removed the records meanwhile, so neither a result nor an error of `work` is reliable.
   */
  use<T>(work: (entry: HeadEntry) => T | Promise<T>): Promise<T> {
    const start = this.#runtime.monotonicNow();
    const expectInTime = () => {
      if (this.#runtime.monotonicNow() - start <= HEAD_LIMIT_MS) return;
      const message = "The answer took so long that it may be out of date";
      throw new ServiceError("store_unavailable", message);
    };
    return this.fresh().then(work).then((result) => {
      expectInTime();
      return result;
    }, (error) => {
      expectInTime();
      throw error;
    });
  }

  /** Records a head that was read or written, if it is newer than the latest one. */
  advance(entry: HeadEntry): void {
    const latest = this.#latest;
    if (latest && (entry.versionstamp ?? "") <= (latest.versionstamp ?? "")) return;
    this.#latest = entry;
    this.#latestSeenAt = this.#runtime.monotonicNow();
  }

  /** Reads the head, unshared. Rejects with `HeadLostError`, and with the errors of {@linkcode headEntryOf}. */
  async read(): Promise<HeadEntry> {
    const known = this.#latest;
    return this.#accept(await this.#store.get(HEAD_KEY), known);
  }

  /**
   * Reads records and ranges of the generation that the head names, together with the head, all at one moment. If a replay
   * has ended since the latest head was read, it reads them again in the new generation. Rejects as {@linkcode read}.
   */
  async readWith(
    keys: readonly ProjectionKey[],
    ranges: readonly ProjectionRange[] = [],
    options: ListOptions = { limit: 0 },
  ): Promise<HeadSnapshot> {
    let known = this.#latest ?? await this.read();
    for (;;) {
      const { generation } = known.head;
      const read = await this.#store.snapshot(
        [HEAD_KEY, ...keys.map((key) => projectionKey(generation, key))],
        ranges.map(({ start, end }) => ({
          start: projectionKey(generation, start),
          end: projectionKey(generation, end),
        })),
        options,
      );
      const [headEntry, ...entries] = read.entries;
      const accepted = this.#accept(headEntry, known);
      if (accepted.head.generation === generation) {
        return { head: accepted.head, entries, lists: read.lists };
      }
      known = accepted;
    }
  }

  /** `known` is the latest head from before the read, because a commit may move the head meanwhile. */
  #accept(entry: StoreEntry | null, known: HeadEntry | undefined): HeadEntry {
    if (entry !== null && entry.versionstamp === this.#latest?.versionstamp) {
      this.#latestSeenAt = this.#runtime.monotonicNow();
      this.#noteFound();
      return this.#latest;
    }
    const read = headEntryOf(this.#application, entry);
    if (known !== undefined && known.versionstamp !== null) this.#expectToFollow(read, known);
    this.advance(read);
    return read;
  }

  #expectToFollow(read: HeadEntry, known: HeadEntry): void {
    const reason = whyNotAfter(read, known);
    if (reason === undefined) return this.#noteFound();
    const { position, lastHash: hash } = known.head;
    const details = { reason, checkpoint: { position, hash }, remedy: words().lostHead() };
    this.#report("error", "head_lost", details);
    this.#isLost = true;
    throw new HeadLostError("store_unavailable", reason);
  }

  #noteFound(): void {
    if (this.#isLost) this.#report("info", "head_found", { ends: "head_lost" });
    this.#isLost = false;
  }

  async #readNext(): Promise<HeadEntry> {
    await this.#inFlight;
    // Yield once so that requests arriving together share a read.
    await this.#runtime.nextTurn();
    this.#next = undefined;
    const reading = this.read();
    this.#inFlight = reading.catch(() => {});
    return await reading;
  }
}

/** Why a head cannot come after one that was read earlier; `undefined` if it can. */
function whyNotAfter({ head, versionstamp }: HeadEntry, known: HeadEntry): string | undefined {
  const { position, lastHash } = known.head;
  const seen = `this instance has seen version ${known.versionstamp} at position ${position}`;
  if (versionstamp === null) return `The store's head record is missing, and ${seen}`;
  if (head.position < position || versionstamp < known.versionstamp!) {
    return `The store's head record is an older one, version ${versionstamp} at position ` +
      `${head.position}, and ${seen}`;
  }
  if (head.position === position && head.lastHash !== lastHash) {
    return `The store's head record is that of another log, and ${seen}`;
  }
}
