import type { Application } from "../application.ts";
import type { Body, RecordedLine } from "../definitions.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { eventOf } from "../log/lines.ts";
import { LogDamagedError, readLog } from "../log/read_log.ts";
import type { Store } from "../store/store.ts";

/**
 * Maximum number of events that a consumer gets at once, and the size of their lines in bytes from which on it gets no
 * further one. It keeps them in memory while its handler fails.
 */
const READ_LINES = 256;
const READ_BYTES = 131_072;

/** Maximum number of events in memory, and the maximum size of their lines in bytes. */
const KEPT_LINES = 1_024;
const KEPT_BYTES = 1_048_576;

/** The surroundings of a {@linkcode LogTail}. */
export interface LogTailDeps {
  application: Application;
  heads: HeadReader;
  store: Store;
  /** Resolves after the next commit of this instance, or after some time. */
  waitForCommit(position: number): Promise<void>;
}

/** The end of the log, which several consumers read together. Those that are far behind read for themselves. */
export class LogTail<EventBody extends Body> {
  readonly #deps: LogTailDeps;
  /** The last events, one after the other. */
  #kept: RecordedLine<EventBody>[] = [];
  #keptBytes = 0;
  /** The position of the last event that was kept, or the one after which the next is kept. */
  #end = 0;
  #growth: Promise<void> | undefined;

  /** Reads nothing before the first call. */
  constructor(deps: LogTailDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves to some events after a position; to none if there were none for a while. Rejects with `LogDamagedError`, and
   * with the errors of the store.
   */
  async after(position: number): Promise<readonly RecordedLine<EventBody>[]> {
    if (position < this.#end - this.#kept.length) {
      const lines = await this.#read(position + 1, Math.min(position + READ_LINES, this.#end));
      return firstOf(lines, 0);
    }
    if (position >= this.#end) {
      if (position > this.#end) this.#beginAfter(position);
      this.#growth ??= this.#grow().finally(() => this.#growth = undefined);
      await this.#growth;
    }
    const first = this.#end - this.#kept.length + 1;
    return position < first - 1 ? [] : firstOf(this.#kept, position - first + 1);
  }

  #beginAfter(position: number): void {
    this.#kept = [];
    this.#keptBytes = 0;
    this.#end = position;
  }

  async #grow(): Promise<void> {
    const { heads, waitForCommit } = this.#deps;
    const end = this.#end;
    const { head } = await heads.fresh();
    if (head.position <= end) return await waitForCommit(end);
    const lines = await this.#read(end + 1, Math.min(end + READ_LINES, head.position));
    // Another consumer may have begun later in the log meanwhile.
    if (this.#end !== end) return;
    this.#kept.push(...lines);
    this.#keptBytes += sizeOf(lines);
    this.#end = end + lines.length;
    this.#trim();
  }

  #trim(): void {
    let surplus = Math.max(0, this.#kept.length - KEPT_LINES);
    let bytes = this.#keptBytes - sizeOf(this.#kept.slice(0, surplus));
    while (bytes > KEPT_BYTES && surplus < this.#kept.length) {
      bytes -= this.#kept[surplus].line.length;
      surplus++;
    }
    this.#kept.splice(0, surplus);
    this.#keptBytes = bytes;
  }

  async #read(from: number, to: number): Promise<RecordedLine<EventBody>[]> {
    const { application, store } = this.#deps;
    const read: RecordedLine<EventBody>[] = [];
    for await (const lines of readLog(store, { from, to })) {
      for (const { position, line } of lines) {
        const event = eventOf(application as Application<EventBody>, line);
        if (event?.position !== position) throw new LogDamagedError(position, "is not an event");
        read.push({ event, line });
      }
      if (sizeOf(read) >= READ_BYTES) break;
    }
    return read;
  }
}

/** The lines from an index on, as many as a consumer gets at once. */
function firstOf<EventBody extends Body>(
  lines: readonly RecordedLine<EventBody>[],
  index: number,
): RecordedLine<EventBody>[] {
  let end = index;
  let bytes = 0;
  while (end < lines.length && end - index < READ_LINES && bytes < READ_BYTES) {
    bytes += lines[end].line.length;
    end++;
  }
  return lines.slice(index, end);
}

function sizeOf(lines: readonly RecordedLine[]): number {
  return lines.reduce((sum, { line }) => sum + line.length, 0);
}
