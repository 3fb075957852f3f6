/**
 * Restores an exported log into an empty store: first the same bytes and the projections derived from them,
 * and the head last. Until then, a restore mark is stored under the head's key. So no service works on half a
 * log, and a killed restore can be continued where it stopped.
 */

import { assertNever } from "../../events/assert_never.ts";
import { followsHash, GENESIS_HASH, type RecordedLine } from "../../events/event.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { unpackLines } from "../../src/encoding/pack_lines.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { HEAD_KEY, isRetained, logKey, recordMutation } from "../../src/keyspace.ts";
import { decodeHeadRecord, encodeHead, type Head, type RestoreMark } from "../../src/log/head.ts";
import { logMutations } from "../../src/log/read_log.ts";
import { eventOf, splitLines } from "../../src/log/lines.ts";
import { LogVerifier } from "../../src/log/log_verifier.ts";
import { project } from "../../src/projections/project.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { groupIntoCommits } from "../../src/store/commit_size.ts";
import { commitUntilKnown } from "../../src/store/commit_until_known.ts";
import { RETRY_LIMIT_MS } from "../../src/store/resilience/resilient_store.ts";
import type { Commit, Mutation, Store } from "../../src/store/store.ts";

/** Each call reads the export from its first byte. */
export type Export = () => AsyncIterable<Uint8Array>;

/** Called from time to time with the number of events verified or written. */
export type Progress = (done: number) => void;

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
  const verifier = new LogVerifier();
  let number = 0;
  for await (const lines of splitLines(source())) {
    for (const line of lines) {
      number++;
      const { event, faults } = verifier.verify(line);
      if (event !== undefined && faults.length === 0) continue;
      throw new ExportRefusedError(`Line ${number}: ${faults.join("; ")}`);
    }
    progress(verifier.position);
  }
  if (number === 0) throw new ExportRefusedError("The export has no lines");
  return verifier.head;
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
    const lines = writer.newLines(linesUpTo(head, source));
    for await (const group of groupIntoCommits(lines, (it) => writer.seal(it), store.limits)) {
      await writer.write(group);
      progress(writer.restored);
    }
    await writer.end();
  } finally {
    await writer.drain();
  }
  progress(writer.restored);
}

/** The lines of an export that was verified, with that head. The hash chain shows that it has not changed since. */
async function* linesUpTo(head: Head, source: Export): AsyncGenerator<RecordedLine[]> {
  let position = 0;
  let lastHash = GENESIS_HASH;
  for await (const lines of splitLines(source())) {
    yield lines.map((line) => {
      const event = followsHash(line, lastHash) ? eventOf(line) : undefined;
      if (event?.position !== ++position || position > head.position) throw exportChanged();
      lastHash = sha256Hex(line);
      return { event, line };
    });
  }
  if (position !== head.position || lastHash !== head.lastHash) throw exportChanged();
}

/** Consecutive lines that share a commit. */
interface Group {
  /** The position of the last line. */
  restored: number;
  mutations: Mutation[];
}

function exportChanged(): ExportRefusedError {
  return new ExportRefusedError("The export changed while it was read");
}

/**
 * Writes groups of lines, each as one commit with its projection records and the mark. So the mark counts
 * exactly what is stored, and a run that continues another one never stores a line in two records.
 */
class RestoreWriter {
  #store: Store;
  #runtime: Runtime;
  #head: Head;
  #mark: RestoreMark;
  /** The versionstamp of the mark, which only this writer may have changed. */
  #versionstamp: string | null;
  /** The line stored at position `mark.restored`, if an earlier run wrote it. */
  #lastLine: Uint8Array | undefined;
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
      if (!isEmpty) throw new StoreNotFreeError("The store is not empty; name another");
    } else {
      const record = decodeHeadRecord(entry.value);
      if (record.kind === "other_format") {
        throw new StoreNotFreeError(`The store is not empty: ${record.message}`);
      }
      if (record.kind !== "restore_mark") {
        throw new StoreNotFreeError("The store already holds a log; name another");
      }
      restored = resumedAt(record.mark, head);
    }
    const mark: RestoreMark = {
      format: "restore",
      storeFormat: head.format,
      run: runtime.newId(),
      position,
      lastHash,
      restored,
    };
    const writer = new RestoreWriter(store, runtime, head, mark, entry?.versionstamp ?? null);
    if (restored > 0) {
      writer.#lastLine = unpackLines((await store.get(logKey(restored)))?.value)?.at(-1);
    }
    await writer.#replaceMark(encodeHead(mark));
    return writer;
  }

  /** Number of events that the mark counts as stored. */
  get restored(): number {
    return this.#mark.restored;
  }

  /** Leaves out the lines that an earlier run wrote. */
  async *newLines(batches: AsyncIterable<RecordedLine[]>): AsyncGenerator<RecordedLine[]> {
    const { restored } = this.#mark;
    for await (const batch of batches) {
      // The hash chain makes the last line of the earlier run prove all lines before it.
      const last = batch.find(({ event }) => event.position === restored);
      if (last !== undefined && !bytesEqual(this.#lastLine, last.line)) {
        throw new StoreNotFreeError(
          "An earlier run restored another export than it had verified; name another store",
        );
      }
      yield batch.filter(({ event }) => event.position > restored);
    }
  }

  /** What writes lines and their records, beside the mark. */
  seal(lines: readonly RecordedLine[]): Group {
    const now = this.#runtime.now();
    const { generation } = this.#head;
    const mutations = [
      ...logMutations(lines[0].event.position, lines.map(({ line }) => line)),
      ...project(lines)
        .filter((record) => isRetained(record, now))
        .map((record) => recordMutation(generation, record, now)),
    ];
    return { restored: lines.at(-1)!.event.position, mutations };
  }

  /** Starts to write a group once the one before is written. */
  async write(group: Group): Promise<void> {
    await this.#writing;
    this.#writing = this.#write(group);
    // Awaited before the next group. Until then, a failure must not count as an unhandled rejection.
    this.#writing.catch(() => {});
  }

  /** Waits for the last group, then replaces the mark with the head. */
  async end(): Promise<void> {
    await this.#writing;
    // Nobody else can replace the mark with a head, so a stored head is this one or a newer one.
    await this.#replaceMark(
      encodeHead(this.#head),
      [],
      (stored) => decodeHeadRecord(stored).kind === "head",
    );
  }

  /** Resolves when the current group has landed or failed. */
  drain(): Promise<void> {
    return this.#writing.catch(() => {});
  }

  async #write({ restored, mutations }: Group): Promise<void> {
    const mark = { ...this.#mark, restored };
    await this.#replaceMark(encodeHead(mark), mutations);
    this.#mark = mark;
  }

  /**
   * Commits mutations together with a new value of the mark. By default, the value is unique: a mark contains
   * the id of its run. Rejects unless the commit landed.
   */
  async #replaceMark(
    value: string,
    mutations: Mutation[] = [],
    hasLanded: (stored: unknown) => boolean = (stored) => stored === value,
  ): Promise<void> {
    const guard = this.#versionstamp;
    const commit: Commit = {
      checks: [{ key: HEAD_KEY, versionstamp: guard }],
      mutations: [...mutations, { type: "set", key: HEAD_KEY, value }],
    };
    const deadline = this.#runtime.monotonicNow() + RETRY_LIMIT_MS;
    const outcome = await commitUntilKnown(this.#runtime, {
      guard,
      commit: () => this.#store.commit(commit),
      readGuard: () => this.#store.get(HEAD_KEY),
      hasLanded: (entry) => hasLanded(entry?.value),
      isOver: () => this.#runtime.monotonicNow() >= deadline,
    });
    switch (outcome.state) {
      case "landed":
        this.#versionstamp = outcome.versionstamp;
        return;
      case "lost":
      // "check_failed" does not occur, because the mark is the only check.
      case "check_failed":
        throw new StoreNotFreeError("Another restore or a service has begun to write to the store");
      case "not_applied":
      case "refused":
      case "unclear": {
        const { cause } = outcome;
        const reason = cause === undefined ? "it refused the commit" : reasonOf(cause);
        throw new Error(`The store takes no commit: ${reason}`);
      }
      default:
        assertNever(outcome);
    }
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
