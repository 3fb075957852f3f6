/** Lines on their way to a reader that may be slow or may have stopped. Adding one never waits for the reader. */

import type { Runtime } from "eventstore-less";
import { Buffer } from "node:buffer";

/** Maximum size of the lines that wait, in bytes: of all, and while a line of a request is added. */
export const BUFFER_BYTES = 1024 * 1024;
export const REQUEST_BUFFER_BYTES = BUFFER_BYTES / 2;

/** Maximum size of a write of several lines, in bytes. Linux does not mix smaller ones of several processes in a pipe. */
export const WRITE_BYTES = 4096;

/** Time until a write to a full pipe that another process has made non-blocking is repeated, in milliseconds. */
const WRITE_AGAIN_MS = 50;

/** How many lines were lost, because their reader was too slow. */
export interface DroppedLines {
  /** All of them. */
  dropped: number;
  /** The lines of requests among them. */
  requests: number;
}

export interface LineBufferOptions {
  /** Writes bytes, and resolves to the number of those that were written, at least one. */
  write(bytes: Uint8Array): Promise<number>;
  /** Returns the line that says how many were lost. */
  droppedLine(lost: DroppedLines): string;
  runtime: Pick<Runtime, "setTimer">;
}

const encoder = new TextEncoder();

/** Writes lines whole and in order, and drops those that do not fit. Lines of requests fill at most half of it. */
export class LineBuffer {
  #options: LineBufferOptions;
  #waiting: Uint8Array[] = [];
  /** The size of all lines that are not written yet. */
  #bytes = 0;
  #lost: DroppedLines = { dropped: 0, requests: 0 };
  #writing: Promise<void> | undefined;
  #isEnded = false;

  constructor(options: LineBufferOptions) {
    this.#options = options;
  }

  add(line: string, isOfRequest = false): void {
    if (this.#isEnded) return;
    const bytes = encoder.encode(`${line}\n`);
    const limit = isOfRequest ? REQUEST_BUFFER_BYTES : BUFFER_BYTES;
    if (this.#bytes + bytes.length > limit) {
      this.#lost.dropped++;
      if (isOfRequest) this.#lost.requests++;
      return;
    }
    this.#push(bytes);
    this.#writing ??= this.#writeAll();
  }

  /** Takes no more lines. Resolves when all lines so far are written, or after `limitMs` milliseconds. */
  async end(limitMs: number): Promise<void> {
    this.#isEnded = true;
    const { promise: late, resolve: onLate } = Promise.withResolvers<void>();
    const cancelTimer = this.#options.runtime.setTimer(limitMs, onLate);
    await Promise.race([this.#writing, late]);
    cancelTimer();
  }

  #push(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      for (const bytes of joined(lines)) {
        await this.#write(bytes);
        this.#bytes -= bytes.length;
      }
      this.#reportLost();
    }
    this.#writing = undefined;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const { runtime, write } = this.#options;
    for (let offset = 0; offset < bytes.length;) {
      try {
        offset += await write(bytes.subarray(offset));
      } catch (error) {
        // The disk is full, or nobody reads the lines any more. This must not stop the service.
        if ((error as { code?: string }).code !== "EAGAIN") return;
        await new Promise<void>((resolve) => runtime.setTimer(WRITE_AGAIN_MS, resolve));
      }
    }
  }

  /** The reader has come back, so it learns what it has missed. This line always fits. */
  #reportLost(): void {
    if (this.#lost.dropped === 0) return;
    const line = this.#options.droppedLine(this.#lost);
    this.#lost = { dropped: 0, requests: 0 };
    this.#push(encoder.encode(`${line}\n`));
  }
}

/** Joins lines to writes of at most {@linkcode WRITE_BYTES}. A longer line has its own. */
function* joined(lines: Uint8Array[]): Generator<Uint8Array> {
  let part: Uint8Array[] = [];
  let bytes = 0;
  for (const line of lines) {
    if (part.length > 0 && bytes + line.length > WRITE_BYTES) {
      yield Buffer.concat(part);
      part = [];
      bytes = 0;
    }
    part.push(line);
    bytes += line.length;
  }
  yield Buffer.concat(part);
}
