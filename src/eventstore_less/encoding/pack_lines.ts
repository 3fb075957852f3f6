export const LINE_FEED = 10;

/** Some lines in one value, and their number. */
export interface PackedLines {
  count: number;
  value: Uint8Array;
}

/** Packs lines without line feeds into as few values of at most `limit` bytes as possible. A longer line is alone. */
export function packLines(lines: readonly Uint8Array[], limit: number): PackedLines[] {
  const packed: PackedLines[] = [];
  let first = 0;
  let bytes = 0;
  for (let index = 0; index <= lines.length; index++) {
    const length = index < lines.length ? lines[index].length + 1 : Infinity;
    if (bytes > 0 && bytes + length > limit) {
      packed.push({ count: index - first, value: joinLines(lines.slice(first, index)) });
      first = index;
      bytes = 0;
    }
    bytes += length;
  }
  return packed;
}

/** Each line is followed by a line feed. */
export function joinLines(lines: readonly Uint8Array[]): Uint8Array {
  let length = lines.length;
  for (const line of lines) length += line.length;
  const joined = new Uint8Array(length);
  let end = 0;
  for (const line of lines) {
    joined.set(line, end);
    end += line.length;
    joined[end] = LINE_FEED;
    end++;
  }
  return joined;
}

/** The lines in a stored value, sharing its memory; `undefined` if {@linkcode packLines} cannot have written it. */
export function unpackLines(value: unknown): Uint8Array[] | undefined {
  if (!(value instanceof Uint8Array) || value.at(-1) !== LINE_FEED) return undefined;
  const lines: Uint8Array[] = [];
  for (let start = 0; start < value.length;) {
    const end = value.indexOf(LINE_FEED, start);
    if (end === start) return undefined;
    lines.push(value.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
