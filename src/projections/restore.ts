/**
 * Brings an exported log into an empty store: the same bytes, the projections that follow from them,
 * and the head as the last of all. Until then a mark stands in the head's place, so that no service
 * works on half a log, and so that a restore that was killed is taken up where it was left.
 */

import type { LogEvent } from "../../events/event.ts";
import { backoffMs, type Host, sleep } from "../host.ts";
import { Chain, splitLines } from "../log/chain.ts";
import { encodeHead, type Head } from "../log/head.ts";
import { decodeRestoreMark, encodeRestoreMark, type RestoreMark } from "../log/restore_mark.ts";
import { reasonOf } from "../report.ts";
import { CommitSize } from "../store/commit_size.ts";
import { HEAD_KEY, isRestoreMark, isRetained, logKey, recordMutation } from "../store/layout.ts";
import type { Mutation, Store } from "../store/store.ts";
import { fold } from "./fold.ts";

/** How long one commit is tried while the store gives no clear answer. */
const COMMIT_PATIENCE_MS = 60_000;

/** Reads the export anew, from its first byte. */
export type Export = () => AsyncIterable<Uint8Array>;

/** Told how many events are verified or written, now and then. */
export type Progress = (done: number) => void;

/** How often progress is told, in events. */
const PROGRESS_EVERY = 500;

/** The export is not one whole, sound log; the message names the first line that is wrong. */
export class ExportRefusedError extends Error {
  override name = "ExportRefusedError";
}

/** The store is not empty, or others write to it; the message says which. Nothing was overwritten. */
export class StoreNotFreeError extends Error {
  override name = "StoreNotFreeError";
}

/** Verifies an export, and resolves to the head of its log. Rejects with `ExportRefusedError`. */
export async function verifyExport(source: Export, progress: Progress = () => {}): Promise<Head> {
  let head: Head | undefined;
  for await (const { event: { position }, chain } of verifiedLines(source)) {
    head = chain.head;
    if (position % PROGRESS_EVERY === 0) progress(position);
  }
  if (head === undefined) throw new ExportRefusedError("The export holds no line");
  return head;
}

/**
 * Restores an export that was verified, and has that head. The store must repeat its reads. Rejects with
 * `StoreNotFreeError`, and with `ExportRefusedError` where the export is not the one that was verified.
 */
export async function restore(
  { store, host }: { store: Store; host: Host },
  source: Export,
  head: Head,
  progress: Progress = () => {},
): Promise<void> {
  const writer = await RestoreWriter.begin(store, host, head);
  for await (const { event, bytes, chain } of verifiedLines(source)) {
    const { position } = event;
    const isLast = position === head.position;
    if (position > head.position || isLast && chain.head.lastHash !== head.lastHash) {
      throw changed();
    }
    await writer.add(event, bytes);
    if (position % PROGRESS_EVERY === 0) progress(writer.restored);
  }
  await writer.end();
}

interface VerifiedLine {
  bytes: Uint8Array;
  event: LogEvent;
  /** The chain, up to this line. */
  chain: Chain;
}

async function* verifiedLines(source: Export): AsyncGenerator<VerifiedLine> {
  const chain = new Chain();
  let line = 0;
  for await (const bytes of splitLines(source())) {
    line++;
    const { event, faults } = chain.take(bytes);
    if (event === undefined || faults.length > 0) {
      throw new ExportRefusedError(`Line ${line}: ${faults.join("; ")}`);
    }
    yield { bytes, event, chain };
  }
}

/** Writes events in commits as large as they may be, each of which moves the mark that it checks. */
class RestoreWriter {
  #store: Store;
  #host: Host;
  #head: Head;
  #mark: RestoreMark;
  /** The versionstamp of the mark, which nobody but this writer may have moved. */
  #versionstamp: string | null;
  #mutations: Mutation[] = [];
  #size = new CommitSize();
  #last = 0;
  /** The commit under way: while the store works on it, the next one is made. */
  #committing: Promise<void> = Promise.resolve();

  private constructor(
    store: Store,
    host: Host,
    head: Head,
    mark: RestoreMark,
    versionstamp: string | null,
  ) {
    this.#store = store;
    this.#host = host;
    this.#head = head;
    this.#mark = mark;
    this.#versionstamp = versionstamp;
    this.#last = mark.restored;
  }

  /** Puts the mark into an empty store, or takes over that of a restore of the same export. */
  static async begin(store: Store, host: Host, head: Head): Promise<RestoreWriter> {
    const { position, lastHash } = head;
    const entry = await store.get(HEAD_KEY);
    let restored = 0;
    if (entry === null) {
      const isEmpty = (await store.list({ prefix: [] }, { limit: 1 })).length === 0;
      if (!isEmpty) throw new StoreNotFreeError("The store is not empty; name another by KV_PATH");
    } else if (!isRestoreMark(entry.value)) {
      throw new StoreNotFreeError("The store holds a log already; name another by KV_PATH");
    } else {
      restored = takenUp(entry.value, head);
    }
    const mark: RestoreMark = {
      format: "restore",
      run: host.newId(),
      position,
      lastHash,
      restored,
    };
    const writer = new RestoreWriter(store, host, head, mark, entry?.versionstamp ?? null);
    await writer.#commit([], encodeRestoreMark(mark));
    return writer;
  }

  /** How many events are in the store for good. */
  get restored(): number {
    return this.#mark.restored;
  }

  async add(event: LogEvent, line: Uint8Array): Promise<void> {
    // What an earlier run has written is not written again.
    if (event.position <= this.#last) return;
    const share = this.#shareOf(event, line);
    for (const mutation of share) this.#size.add(mutation);
    if (this.#size.exceedsLimits) {
      await this.#flush();
      for (const mutation of share) this.#size.add(mutation);
    }
    this.#mutations.push(...share);
    this.#last = event.position;
  }

  /** Writes what is left, and the head in the place of the mark. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#committing;
    if (this.#last !== this.#head.position) throw changed();
    await this.#commit([], encodeHead(this.#head));
  }

  #shareOf(event: LogEvent, line: Uint8Array): Mutation[] {
    const now = this.#host.now();
    const records = fold(event)
      .filter((record) => isRetained(record, now))
      .map((record) => recordMutation(this.#head.generation, record, now));
    return [{ type: "set", key: logKey(event.position), value: line }, ...records];
  }

  async #flush(): Promise<void> {
    await this.#committing;
    if (this.#mutations.length === 0) return;
    const mark = { ...this.#mark, restored: this.#last };
    this.#committing = this.#commit(this.#mutations, encodeRestoreMark(mark))
      .then(() => void (this.#mark = mark));
    // It is awaited before the next one; until then a failure is no unhandled one.
    this.#committing.catch(() => {});
    this.#mutations = [];
    this.#size = new CommitSize();
  }

  /** Commits exactly once: the mark tells whether a commit without a clear answer landed. */
  async #commit(mutations: Mutation[], value: string): Promise<void> {
    const checks = [{ key: HEAD_KEY, versionstamp: this.#versionstamp }];
    const all: Mutation[] = [...mutations, { type: "set", key: HEAD_KEY, value }];
    const deadline = this.#host.uptime() + COMMIT_PATIENCE_MS;
    for (let attempt = 0;; attempt++) {
      let reason = "the store refused the commit";
      try {
        const versionstamp = await this.#store.commit({ checks, mutations: all });
        if (versionstamp !== null) {
          this.#versionstamp = versionstamp;
          return;
        }
      } catch (error) {
        reason = reasonOf(error);
      }
      const now = await this.#store.get(HEAD_KEY);
      // A mark bears the id of its run and never stands twice; a head can only be this one's or newer.
      if (
        now?.value === value || now !== null && !isRestoreMark(value) && !isRestoreMark(now.value)
      ) {
        this.#versionstamp = now.versionstamp;
        return;
      }
      if ((now?.versionstamp ?? null) !== this.#versionstamp) {
        throw new StoreNotFreeError("Another restore or a service has begun to write to the store");
      }
      if (this.#host.uptime() >= deadline) throw new Error(`The store takes no commit: ${reason}`);
      await sleep(this.#host, backoffMs(this.#host, attempt));
    }
  }
}

/** How far the restore of the same export came that was not finished. */
function takenUp(value: string, { position, lastHash }: Head): number {
  const mark = decodeRestoreMark(value);
  if (mark?.position === position && mark.lastHash === lastHash) return mark.restored;
  const other = mark === undefined
    ? "another export"
    : `another export, of ${mark.position} events, the last with the hash ${mark.lastHash},`;
  throw new StoreNotFreeError(`The store holds a restore of ${other} that was not finished`);
}

function changed(): ExportRefusedError {
  return new ExportRefusedError("The export changed while it was read");
}
