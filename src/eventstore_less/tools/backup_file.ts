import { bytesEqual } from "../encoding/bytes_equal.ts";
import { joinLines, LINE_FEED } from "../encoding/pack_lines.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { GENESIS_HASH, MalformedEventError } from "../log/event.ts";
import { eventOf, LINE_LIMIT_BYTES, readEvent } from "../log/lines.ts";
import { LogDamagedError, readLog, type StoredLine } from "../log/read_log.ts";
import type { Store } from "../store/store.ts";
import { StoreDamagedError } from "../store/store_errors.ts";
import type { Application } from "../application.ts";
import type { FileHandle } from "node:fs/promises";
import { RefusedError } from "./refused_error.ts";
import { ToolError } from "./tool_error.ts";
import { conversionOf, ConvertedError } from "./verify/conversion.ts";

const MISSING = "events are missing, or this is another log";

/** Whether a part of the log cannot be read. */
export function isDamage(error: unknown): error is LogDamagedError | StoreDamagedError {
  return error instanceof LogDamagedError || error instanceof StoreDamagedError;
}

/** The end of the file of a backup. A torn file has only the beginning of the first event. */
type FileEnd =
  | { kind: "empty" }
  | { kind: "torn"; bytes: Uint8Array }
  | {
    kind: "lines";
    length: number;
    first: Uint8Array;
    /** Position of the first event. It is 1, unless the file continues another one. */
    start: number;
    last: Uint8Array;
    position: number;
    incompleteBytes: number;
    /** Whether the last event has no line feed after it, as some editors save a file. */
    lacksLineFeed: boolean;
  };

/** The last event of a file that a backup continues. */
export type FormerPart = Pick<FileEnd & { kind: "lines" }, "last" | "position">;

/** Reads the end of a file that a backup continues, which must be whole, and of this log. Rejects with `RefusedError`. */
export async function readFormerPart(
  application: Application,
  file: FileHandle,
  store: Store,
  headPosition: number,
): Promise<FormerPart> {
  const end = await readEnd(application, file);
  if (end.kind !== "lines" || end.incompleteBytes > 0 || end.lacksLineFeed) {
    throw new RefusedError(
      "not_an_export",
      "The file before this one does not end with a whole line",
    );
  }
  await expectInLog(end, store, headPosition);
  return end;
}

/** An export of the log, or a part of it that continues another file, in a file that only this process writes. */
export class BackupFile {
  /** In bytes, unless another program has changed the file. */
  length = 0;
  /** Position of the first event that is or will be in the file. */
  readonly start: number;
  /** Of the last event in the file; without one, the position before {@linkcode start}. */
  position: number;
  hash: string;
  /** Length of the incomplete line that {@linkcode open} removed. */
  readonly removedBytes: number = 0;
  /** Why the last line of the file cannot be found in the log. The hash in the next one can still prove it. */
  damage: LogDamagedError | StoreDamagedError | undefined;
  #application: Application;
  #file: FileHandle;

  private constructor(
    application: Application,
    file: FileHandle,
    end: FileEnd,
    former: FormerPart | undefined,
  ) {
    this.#application = application;
    this.#file = file;
    this.start = end.kind === "lines" ? end.start : (former?.position ?? 0) + 1;
    this.position = this.start - 1;
    this.hash = former === undefined ? GENESIS_HASH : sha256Hex(former.last);
    if (end.kind === "torn") this.removedBytes = end.bytes.length;
    if (end.kind === "lines") {
      this.length = end.length;
      this.position = end.position;
      this.hash = sha256Hex(end.last);
      this.removedBytes = end.incompleteBytes;
    }
  }

  /**
   * Opens a backup of a log that ends at `headPosition`, infinity if that is unknown. Removes an incomplete line at the end
   * of the file. Rejects with `RefusedError` unless its first and its last whole line are in the log, or cannot be read
   * there. An empty file will begin with the first event, or after the `former` part.
   */
  static async open(
    application: Application,
    file: FileHandle,
    store: Store,
    headPosition: number,
    former?: FormerPart,
  ): Promise<BackupFile> {
    const end = await readEnd(application, file);
    const backup = new BackupFile(application, file, end, former);
    if (end.kind === "torn") await expectBeginning(end.bytes, backup.start, store, headPosition);
    if (end.kind === "lines") {
      expectToContinue(end, former);
      await expectBothInLog(end, store, headPosition).catch((error) => {
        if (!isDamage(error)) throw error;
        backup.damage = error;
      });
    }
    if (backup.removedBytes > 0) await file.truncate(backup.length);
    if (end.kind === "lines" && end.lacksLineFeed) await file.write(Uint8Array.of(LINE_FEED));
    await file.datasync();
    return backup;
  }

  /** Appends the next lines of the log. Rejects with `LogDamagedError` if one is not an event, or breaks the chain. */
  async append(lines: readonly StoredLine[]): Promise<void> {
    if (lines.length === 0) return;
    let hash = this.hash;
    for (const { position, line } of lines) {
      const event = readEvent(this.#application, line);
      if (event instanceof MalformedEventError) {
        throw new LogDamagedError(position, `is not sound: ${event.message}`);
      }
      if (event.position !== position || event.previousHash !== hash) {
        throw new LogDamagedError(position, "does not continue the line before it");
      }
      hash = sha256Hex(line);
    }
    const bytes = joinLines(lines.map(({ line }) => line));
    try {
      for (let offset = 0; offset < bytes.length;) {
        offset += (await this.#file.write(bytes.subarray(offset))).bytesWritten;
      }
    } catch (cause) {
      // The disk may be full. Without a part of a line, the file is a valid export.
      await this.#file.truncate(this.length).catch(() => {});
      this.#failWrite(cause);
    }
    this.length += bytes.length;
    this.position = lines.at(-1)!.position;
    this.hash = hash;
  }

  async sync(): Promise<void> {
    await this.#file.datasync().catch((cause) => this.#failWrite(cause));
  }

  #failWrite(cause: unknown): never {
    const message = `Cannot write the backup after position ${this.position}`;
    throw new ToolError("write_failed", message, { cause });
  }
}

/** Rejects with `RefusedError` if the file is not an export of a log, or does not end with an event. */
async function readEnd(application: Application, file: FileHandle): Promise<FileEnd> {
  const { size } = await file.stat();
  if (size === 0) return { kind: "empty" };
  // A line and an incomplete line after it, each with a line feed before it.
  const found = await read(file, Math.max(0, size - 2 * (LINE_LIMIT_BYTES + 1)), size);
  const unended = found.subarray(found.lastIndexOf(LINE_FEED) + 1);
  // A torn line is not an event.
  const lacksLineFeed = eventOf(application, unended) !== undefined;
  const tail = lacksLineFeed ? Uint8Array.of(...found, LINE_FEED) : found;
  const lastFeed = tail.lastIndexOf(LINE_FEED);
  if (lastFeed === -1) {
    if (size <= LINE_LIMIT_BYTES) return { kind: "torn", bytes: tail };
    throw new RefusedError("not_an_export", "The file is not an export of a log");
  }
  const head = await read(file, 0, Math.min(size, LINE_LIMIT_BYTES + 1));
  const firstFeed = head.indexOf(LINE_FEED);
  const firstLine = firstFeed === -1 ? head : head.subarray(0, firstFeed);
  refuseConverted(application, "Line 1", firstLine);
  const start = eventOf(application, firstLine)?.position;
  if (start === undefined) {
    throw new RefusedError("not_an_export", "The file does not begin with an event of a log");
  }
  const feedBefore = tail.lastIndexOf(LINE_FEED, lastFeed - 1);
  const last = tail.subarray(feedBefore + 1, lastFeed);
  refuseConverted(application, "The last line", last);
  const event = eventOf(application, last);
  if (event === undefined) {
    throw new RefusedError(
      "not_an_export",
      "The file does not end with an event that this version knows",
    );
  }
  const incompleteBytes = tail.length - lastFeed - 1;
  const length = size + Number(lacksLineFeed) - incompleteBytes;
  const { position } = event;
  const first = firstLine.slice();
  return { kind: "lines", length, first, start, last, position, incompleteBytes, lacksLineFeed };
}

/** Throws `RefusedError` if another program has changed a line of the file. */
function refuseConverted(application: Application, which: string, line: Uint8Array): void {
  const conversion = conversionOf(application, line);
  if (conversion !== undefined) throw new ConvertedError(conversion, which);
}

/** Throws `RefusedError` unless the file begins where the part before it ends. */
function expectToContinue({ start }: FileEnd & { kind: "lines" }, former?: FormerPart): void {
  if (former === undefined || start === former.position + 1) return;
  const ends = `the one before it ends at position ${former.position}`;
  throw new RefusedError("other_log", `The file begins at position ${start}, but ${ends}`);
}

/** Rejects with `RefusedError` unless the bytes are the beginning of the event at the position `start`. */
async function expectBeginning(
  bytes: Uint8Array,
  start: number,
  store: Store,
  headPosition: number,
): Promise<void> {
  if (headPosition < start) {
    const has = `The file has the beginning of an event, but the log has none at position ${start}`;
    throw new RefusedError("other_log", `${has}: ${MISSING}`);
  }
  for await (const [{ line }] of readLog(store, { from: start, to: start })) {
    if (bytesEqual(bytes, line.subarray(0, bytes.length))) return;
  }
  throw new RefusedError(
    "not_an_export",
    `The file does not begin with the event at position ${start} of this log`,
  );
}

/** Rejects with `RefusedError` unless the log has the first and the last line of the file. */
async function expectBothInLog(
  { first, start, last, position }: FileEnd & { kind: "lines" },
  store: Store,
  headPosition: number,
): Promise<void> {
  await expectInLog({ last, position }, store, headPosition);
  // The first event of all logs of a program may be alike, so only a later one says something.
  if (start > 1) await expectInLog({ last: first, position: start }, store, headPosition);
}

/** Rejects with `RefusedError` unless the log has the last line of the file at its position. */
async function expectInLog(
  { last, position }: FormerPart,
  store: Store,
  headPosition: number,
): Promise<void> {
  if (position > headPosition) {
    const ends = `The file ends at position ${position}, but the log at ${headPosition}`;
    throw new RefusedError("other_log", `${ends}: ${MISSING}`);
  }
  for await (const [{ line }] of readLog(store, { from: position, to: position })) {
    if (bytesEqual(last, line)) return;
  }
  const other = `The file has another event at position ${position} than the log`;
  throw new RefusedError("other_log", `${other}: it is of another log, or one was altered`);
}

async function read(file: FileHandle, from: number, to: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(to - from);
  for (let offset = 0; offset < bytes.length;) {
    const { bytesRead } = await file.read(bytes, offset, bytes.length - offset, from + offset);
    if (bytesRead === 0) {
      throw new RefusedError("not_an_export", "The file became shorter while it was read");
    }
    offset += bytesRead;
  }
  return bytes;
}
