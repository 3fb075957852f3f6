/**
 * Restores an exported log into an empty store: first the same bytes and the projections derived from them,
 * and the head last. Until then, a restore mark is stored under the head's key. So no service works on half a
 * log, and a killed restore can be continued where it stopped.
 */

import type { RecordedEvent } from "../../events/event.ts";
import { bytesEqual } from "../encoding/bytes_equal.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { LogVerifier, splitLines } from "../log/log_verifier.ts";
import { decodeHeadRecord, encodeHead, type Head } from "../log/head.ts";
import { encodeRestoreMark, type RestoreMark } from "../log/restore_mark.ts";
import { reasonOf } from "../runtime/logger.ts";
import { splitIntoCommits } from "../store/commit_size.ts";
import { commitUntilKnown } from "../store/commit_until_known.ts";
import { HEAD_KEY, isRetained, logKey, recordMutation } from "../keyspace.ts";
import { RETRY_LIMIT_MS } from "../store/retrying_store.ts";
import type { Mutation, Store, StoreEntry } from "../store/store.ts";
import { project } from "../projections/project.ts";

/** How many bytes of lines are gathered before they are written: enough for several commits. */
const GROUP_LINE_BYTES = 2 * 1024 * 1024;

/** Reads the export from its first byte, at each call. */
export type Export = () => AsyncIterable<Uint8Array>;

/** Called from time to time with the number of events verified or written. */
export type Progress = (done: number) => void;

/** How often progress is reported, in events. */
const PROGRESS_EVERY = 500;

/** The export is not one complete, sound log. The message names the first bad line. */
export class ExportRefusedError extends Error {
  override name = "ExportRefusedError";
}

/** The store is not empty, or others write to it; the message says which. Nothing was overwritten. */
export class StoreNotFreeError extends Error {
  override name = "StoreNotFreeError";
}

/** Verifies an export, and resolves to the head of its log. Rejects with `ExportRefusedError`. */
export async function verifyExport(source: Export, progress: Progress = () => {}): Promise<Head> {
  let verified: LogVerifier | undefined;
  for await (const { event: { position }, verifier } of verifiedLines(source)) {
    verified = verifier;
    if (position % PROGRESS_EVERY === 0) progress(position);
  }
  if (verified === undefined) throw new ExportRefusedError("The export has no lines");
  return verified.head;
}

/**
 * Restores a verified export. `head` is the head that the verification returned. The store must retry its
 * reads. Rejects with `StoreNotFreeError`, or with `ExportRefusedError` if the export is not the one that was
 * verified.
 */
export async function restore(
  { store, runtime }: { store: Store; runtime: Runtime },
  source: Export,
  head: Head,
  progress: Progress = () => {},
): Promise<void> {
  const writer = await RestoreWriter.begin(store, runtime, head);
  try {
    for await (const { event, bytes, verifier } of verifiedLines(source)) {
      const { position } = event;
      const isLast = position === head.position;
      if (position > head.position || isLast && verifier.head.lastHash !== head.lastHash) {
        throw changed();
      }
      await writer.add(event, bytes);
      if (position % PROGRESS_EVERY === 0) progress(writer.restored);
    }
    await writer.end();
  } finally {
    await writer.drain();
  }
  progress(writer.restored);
}

interface VerifiedLine {
  bytes: Uint8Array;
  event: RecordedEvent;
  /** The verifier, up to this line. */
  verifier: LogVerifier;
}

async function* verifiedLines(source: Export): AsyncGenerator<VerifiedLine> {
  const verifier = new LogVerifier();
  let line = 0;
  for await (const bytes of splitLines(source())) {
    line++;
    const { event, faults } = verifier.verify(bytes);
    if (event === undefined || faults.length > 0) {
      throw new ExportRefusedError(`Line ${line}: ${faults.join("; ")}`);
    }
    yield { bytes, event, verifier };
  }
}

/**
 * Writes events in groups of commits, and submits the next commit while the store works on the one before.
 * Each commit checks the mark. The mark advances once all commits of a group have landed. If a run stops
 * before that, the next run writes the same bytes to the same keys again.
 */
class RestoreWriter {
  #store: Store;
  #runtime: Runtime;
  #head: Head;
  #mark: RestoreMark;
  /** The versionstamp of the mark, which only this writer may have changed. */
  #versionstamp: string | null;
  #group = new Group();
  #lineBytes = 0;
  #last = 0;
  /** The line stored at position `mark.restored`, if an earlier run wrote it. */
  #lastLine: unknown;
  /** Settles when the current group is written; the next one is gathered meanwhile. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(
    store: Store,
    runtime: Runtime,
    head: Head,
    mark: RestoreMark,
    versionstamp: string | null,
  ) {
    this.#store = store;
    this.#runtime = runtime;
    this.#head = head;
    this.#mark = mark;
    this.#versionstamp = versionstamp;
    this.#last = mark.restored;
  }

  /**
   * Writes the mark into an empty store, or takes over the mark of an unfinished restore of the same export.
   */
  static async begin(store: Store, runtime: Runtime, head: Head): Promise<RestoreWriter> {
    const { position, lastHash } = head;
    const entry = await store.get(HEAD_KEY);
    let restored = 0;
    if (entry === null) {
      const isEmpty = (await store.list({ prefix: [] }, { limit: 1 })).length === 0;
      if (!isEmpty) throw new StoreNotFreeError("The store is not empty; name another by KV_PATH");
    } else {
      const record = decodeHeadRecord(entry.value);
      if (record.kind !== "restore_mark") {
        throw new StoreNotFreeError("The store already holds a log; name another by KV_PATH");
      }
      restored = resumedAt(record.mark, head);
    }
    const mark: RestoreMark = {
      format: "restore",
      run: runtime.newId(),
      position,
      lastHash,
      restored,
    };
    const writer = new RestoreWriter(store, runtime, head, mark, entry?.versionstamp ?? null);
    if (restored > 0) writer.#lastLine = (await store.get(logKey(restored)))?.value;
    await writer.#replaceMark(encodeRestoreMark(mark));
    return writer;
  }

  /** Number of events that the mark counts as stored. */
  get restored(): number {
    return this.#mark.restored;
  }

  async add(event: RecordedEvent, line: Uint8Array): Promise<void> {
    if (event.position <= this.#last) {
      // An earlier run wrote these lines. The hash chain makes its last line prove all lines before.
      if (event.position === this.#last && !bytesEqual(this.#lastLine, line)) {
        throw new StoreNotFreeError(
          "An earlier run restored another export than it had verified; name another store by KV_PATH",
        );
      }
      return;
    }
    this.#last = event.position;
    const now = this.#runtime.now();
    this.#group.add({ type: "set", key: logKey(event.position), value: line });
    for (const record of project(event)) {
      if (!isRetained(record, now)) continue;
      this.#group.add(recordMutation(this.#head.generation, record, now));
    }
    this.#lineBytes += line.length;
    if (this.#lineBytes >= GROUP_LINE_BYTES) await this.#flush();
  }

  /** Writes the remaining events, then replaces the mark with the head. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
    if (this.#last !== this.#head.position) throw changed();
    // Nobody else can replace the mark with a head, so a stored head is this one or a newer one.
    await this.#replaceMark(
      encodeHead(this.#head),
      (stored) => decodeHeadRecord(stored).kind === "head",
    );
  }

  /** Resolves when the current group has landed or failed. */
  drain(): Promise<void> {
    return this.#writing.catch(() => {});
  }

  async #flush(): Promise<void> {
    await this.#writing;
    this.#writing = this.#write(this.#group, this.#last);
    // Awaited before the next group. Until then, a failure must not count as an unhandled rejection.
    this.#writing.catch(() => {});
    this.#group = new Group();
    this.#lineBytes = 0;
  }

  async #write(group: Group, last: number): Promise<void> {
    let before: Promise<unknown> = Promise.resolve();
    for (const mutations of splitIntoCommits(group.mutations())) {
      const commit = this.#commit(mutations);
      commit.catch(() => {});
      await before;
      before = commit;
    }
    await before;
    const mark = { ...this.#mark, restored: last };
    await this.#replaceMark(encodeRestoreMark(mark));
    this.#mark = mark;
  }

  /** Replaces the mark. By default, the value is unique: a mark contains the id of its run. */
  async #replaceMark(
    value: string,
    hasLanded: (stored: unknown) => boolean = (stored) => stored === value,
  ): Promise<void> {
    this.#versionstamp = await this.#commit(
      [{ type: "set", key: HEAD_KEY, value }],
      (headRecord) => hasLanded(headRecord?.value),
    );
  }

  /**
   * Commits while the mark is unchanged, and resolves to the versionstamp. Rejects unless the commit landed.
   * Repeating a commit of events has the same effect.
   */
  async #commit(
    mutations: Mutation[],
    hasLanded: (headRecord: StoreEntry | null) => boolean = () => false,
  ): Promise<string> {
    const guard = this.#versionstamp;
    const checks = [{ key: HEAD_KEY, versionstamp: guard }];
    const deadline = this.#runtime.monotonicNow() + RETRY_LIMIT_MS;
    const outcome = await commitUntilKnown(this.#runtime, {
      guard,
      commit: () => this.#store.commit({ checks, mutations }),
      readGuard: () => this.#store.get(HEAD_KEY),
      hasLanded,
      isOver: () => this.#runtime.monotonicNow() >= deadline,
    });
    if (outcome.state === "landed" && outcome.versionstamp !== null) return outcome.versionstamp;
    if (outcome.state === "not_attempted" || outcome.state === "unclear") {
      const reason = outcome.cause === undefined
        ? "it refused the commit"
        : reasonOf(outcome.cause);
      throw new Error(`The store takes no commit: ${reason}`);
    }
    throw new StoreNotFreeError("Another restore or a service has begun to write to the store");
  }
}

/** The mutations of a group, sorted so that neighbouring keys are adjacent: the store writes them faster. */
class Group {
  #byNeighbourhood = new Map<Deno.KvKeyPart, Mutation[]>();

  add(mutation: Mutation): void {
    const neighbourhood = mutation.key[mutation.key.length - 2];
    const neighbours = this.#byNeighbourhood.get(neighbourhood);
    if (neighbours === undefined) this.#byNeighbourhood.set(neighbourhood, [mutation]);
    else neighbours.push(mutation);
  }

  mutations(): Mutation[] {
    return [...this.#byNeighbourhood.values()].flat();
  }
}

/**
 * Number of events that an unfinished restore of the same export has stored. Throws `StoreNotFreeError` if
 * the mark is that of another export.
 */
function resumedAt(mark: RestoreMark | undefined, { position, lastHash }: Head): number {
  if (mark?.position === position && mark.lastHash === lastHash) return mark.restored;
  const other = mark === undefined
    ? "another export"
    : `another export, of ${mark.position} events, the last with the hash ${mark.lastHash},`;
  throw new StoreNotFreeError(`The store holds a restore of ${other} that was not finished`);
}

function changed(): ExportRefusedError {
  return new ExportRefusedError("The export changed while it was read");
}
