/** How many pets with neighbouring ids lie together. */
export const BLOCK_SIZE = 64;

/** How much is kept, in bytes: a million pets of an ordinary kind. */
const SIZE_LIMIT_BYTES = 96 * 1024 * 1024;

const decoder = new TextDecoder();

/**
 * The texts of pets in memory, in UTF-8. A block of neighbours that is whole becomes one piece, for a
 * million pieces would take some times the memory of what they hold.
 */
export class PetCache {
  #blocks = new Map<number, Block>();
  #bytes = 0;

  get(id: number): string | undefined {
    const place = id % BLOCK_SIZE;
    const block = this.#blocks.get(id - place);
    if (block === undefined) return undefined;
    const bytes = block.ends === undefined ? block.pieces[place] : block.bytes.subarray(
      place === 0 ? 0 : block.ends[place - 1],
      block.ends[place],
    );
    return bytes === undefined ? undefined : decoder.decode(bytes);
  }

  /** Keeps a copy of the bytes, or the bytes themselves, which must not change. */
  put(id: number, bytes: Uint8Array): void {
    const place = id % BLOCK_SIZE;
    let block = this.#blocks.get(id - place);
    if (block === undefined) {
      block = { pieces: new Array(BLOCK_SIZE).fill(undefined), missing: BLOCK_SIZE };
      this.#blocks.set(id - place, block);
    }
    if (block.ends !== undefined || block.pieces[place] !== undefined) return;
    block.pieces[place] = bytes;
    this.#bytes += bytes.length;
    if (--block.missing === 0) this.#blocks.set(id - place, pack(block.pieces as Uint8Array[]));
    while (this.#bytes > SIZE_LIMIT_BYTES) this.#dropOldestBlock();
  }

  clear(): void {
    this.#blocks.clear();
    this.#bytes = 0;
  }

  #dropOldestBlock(): void {
    const [start, block] = this.#blocks.entries().next().value!;
    this.#blocks.delete(start);
    this.#bytes -= sizeOf(block);
  }
}

/** Texts by their place in a block, some still missing. */
interface OpenBlock {
  pieces: (Uint8Array | undefined)[];
  missing: number;
  ends?: undefined;
}

/** All texts one after the other, and where each of them ends. */
interface PackedBlock {
  bytes: Uint8Array;
  ends: Uint32Array;
}

type Block = OpenBlock | PackedBlock;

function pack(pieces: Uint8Array[]): PackedBlock {
  let end = 0;
  const ends = Uint32Array.from(pieces, ({ length }) => end += length);
  const bytes = new Uint8Array(end);
  for (const [place, piece] of pieces.entries()) {
    bytes.set(piece, place === 0 ? 0 : ends[place - 1]);
  }
  return { bytes, ends };
}

function sizeOf(block: Block): number {
  return block.ends === undefined
    ? block.pieces.reduce((size, piece) => size + (piece?.length ?? 0), 0)
    : block.bytes.length;
}
