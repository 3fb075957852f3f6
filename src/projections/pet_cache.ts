/** How many pets with consecutive ids form a block. */
export const BLOCK_SIZE = 64;

/** Maximum size of the cached texts, in bytes: enough for a million ordinary pets. */
const SIZE_LIMIT_BYTES = 96 * 1024 * 1024;

const decoder = new TextDecoder();

/**
 * Caches the texts of pets in memory, in UTF-8. A complete block is packed into one array, because a million
 * small arrays would take several times the memory of their contents.
 */
export class PetCache {
  #blocks = new Map<number, Block>();
  #bytes = 0;

  get(id: number): string | undefined {
    const index = id % BLOCK_SIZE;
    const block = this.#blocks.get(id - index);
    if (block === undefined) return undefined;
    const bytes = block.ends === undefined ? block.pieces[index] : block.bytes.subarray(
      index === 0 ? 0 : block.ends[index - 1],
      block.ends[index],
    );
    return bytes === undefined ? undefined : decoder.decode(bytes);
  }

  /** Caches the bytes, possibly without copying them, so the caller must not change them. */
  put(id: number, bytes: Uint8Array): void {
    const index = id % BLOCK_SIZE;
    let block = this.#blocks.get(id - index);
    if (block === undefined) {
      block = { pieces: new Array(BLOCK_SIZE).fill(undefined), missing: BLOCK_SIZE };
      this.#blocks.set(id - index, block);
    }
    if (block.ends !== undefined || block.pieces[index] !== undefined) return;
    block.pieces[index] = bytes;
    this.#bytes += bytes.length;
    if (--block.missing === 0) this.#blocks.set(id - index, pack(block.pieces as Uint8Array[]));
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

/** A block with texts still missing; `pieces` are in the order of ids. */
interface OpenBlock {
  pieces: (Uint8Array | undefined)[];
  missing: number;
  ends?: undefined;
}

/** All texts of a block, concatenated, and the offset of the end of each. */
interface PackedBlock {
  bytes: Uint8Array;
  ends: Uint32Array;
}

type Block = OpenBlock | PackedBlock;

function pack(pieces: Uint8Array[]): PackedBlock {
  let end = 0;
  const ends = Uint32Array.from(pieces, ({ length }) => end += length);
  const bytes = new Uint8Array(end);
  for (const [index, piece] of pieces.entries()) {
    bytes.set(piece, index === 0 ? 0 : ends[index - 1]);
  }
  return { bytes, ends };
}

function sizeOf(block: Block): number {
  return block.ends === undefined
    ? block.pieces.reduce((size, piece) => size + (piece?.length ?? 0), 0)
    : block.bytes.length;
}
