/** The lines of an export or of the stored log: their events, and a stream split into them. */

import type { Application } from "../application.ts";
import type { Body, Recorded } from "../definitions.ts";
import { Buffer, isAscii } from "node:buffer";
import { decodeEvent, MalformedEventError } from "./event.ts";
import { LINE_FEED } from "../encoding/pack_lines.ts";
import { CHECKSUM_BYTES } from "../store/checksum.ts";
import { VALUE_BYTES_LIMIT } from "../store/store.ts";

/** Longest line, in bytes: it fits into a value of the store, with its line feed and the checksum. */
export const LINE_LIMIT_BYTES = VALUE_BYTES_LIMIT - CHECKSUM_BYTES - 1;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The event of a line, or the reason why it has none. */
export function readEvent<EventBody extends Body>(
  application: Application<EventBody>,
  line: Uint8Array,
): Recorded<EventBody> | MalformedEventError {
  try {
    return decodeEvent(application, decodeUtf8(line));
  } catch (error) {
    if (error instanceof MalformedEventError) return error;
    throw error;
  }
}

/** The event of a line; `undefined` if it is not one that this version knows. */
export function eventOf<EventBody extends Body>(
  application: Application<EventBody>,
  line: Uint8Array,
): Recorded<EventBody> | undefined {
  const read = readEvent(application, line);
  return read instanceof MalformedEventError ? undefined : read;
}

function decodeUtf8(line: Uint8Array): string {
  if (line.length > LINE_LIMIT_BYTES) {
    throw new MalformedEventError(`The line is longer than ${LINE_LIMIT_BYTES} bytes`);
  }
  // TextDecoder takes three times as long.
  if (isAscii(line)) {
    return Buffer.from(line.buffer, line.byteOffset, line.length).toString("latin1");
  }
  try {
    return decoder.decode(line);
  } catch {
    throw new MalformedEventError("The line is not valid UTF-8");
  }
}

/**
 * Yields the lines of each chunk of a stream together, without line feeds. The last line needs no line feed. A line
 * over {@linkcode LINE_LIMIT_BYTES} is cut to one byte more than that, so that it still counts as too long, and is
 * yielded before its end, because it may never end.
 */
export async function* splitLines(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array[], void> {
  let open = new Uint8Array();
  /** Whether the line that was yielded last has not ended. */
  let isSkipping = false;
  for await (const chunk of stream) {
    const bytes = new Uint8Array(open.length + chunk.length);
    bytes.set(open);
    bytes.set(chunk, open.length);
    const lines: Uint8Array[] = [];
    let start = 0;
    let end = bytes.indexOf(LINE_FEED);
    while (end !== -1) {
      if (!isSkipping) lines.push(cutLine(bytes, start, end));
      isSkipping = false;
      start = end + 1;
      end = bytes.indexOf(LINE_FEED, start);
    }
    open = bytes.subarray(start);
    if (open.length > LINE_LIMIT_BYTES) {
      if (!isSkipping) lines.push(cutLine(open, 0, open.length));
      isSkipping = true;
      open = new Uint8Array();
    }
    if (lines.length > 0) yield lines;
  }
  if (open.length > 0 && !isSkipping) yield [open];
}

function cutLine(bytes: Uint8Array<ArrayBuffer>, start: number, end: number) {
  return bytes.subarray(start, Math.min(end, start + LINE_LIMIT_BYTES + 1));
}
