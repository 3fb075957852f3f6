import { TILE_WIDTH, tilePath } from "./tile.ts";

/** Bytes of the length before each entry. */
const LENGTH_BYTES = 2;

export interface EntryBundle {
  path: string;
  content: Uint8Array;
  /** Number of lines of the log up to the end of the bundle. */
  end: number;
}

/** Packs the lines of the log into bundles: each line with its length before it. */
export class EntryBundler {
  #size: number;
  #lines: Uint8Array[] = [];

  /** Begins after the first `size` lines, a multiple of {@linkcode TILE_WIDTH}. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Adds the next line, and returns the bundle if it is full now. */
  add(line: Uint8Array): EntryBundle | undefined {
    this.#size++;
    return this.#lines.push(line) === TILE_WIDTH ? this.rest() : undefined;
  }

  /** The bundle that is not full; `undefined` if it has no lines. */
  rest(): EntryBundle | undefined {
    const lines = this.#lines;
    if (lines.length === 0) return undefined;
    this.#lines = [];
    const index = Math.ceil(this.#size / TILE_WIDTH) - 1;
    return {
      path: tilePath("entries", index, lines.length),
      content: pack(lines),
      end: this.#size,
    };
  }
}

function pack(lines: Uint8Array[]): Uint8Array {
  const bytes = lines.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0);
  const content = new Uint8Array(bytes);
  const view = new DataView(content.buffer);
  let offset = 0;
  for (const line of lines) {
    view.setUint16(offset, line.length);
    content.set(line, offset + LENGTH_BYTES);
    offset += LENGTH_BYTES + line.length;
  }
  return content;
}
