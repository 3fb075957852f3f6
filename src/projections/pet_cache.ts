/** How many pets with neighbouring ids lie together. */
export const BLOCK_SIZE = 64;

/** How much is kept, in bytes: a million pets of an ordinary kind. */
const SIZE_LIMIT_BYTES = 96 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The texts of pets in memory. A block of neighbours that is whole becomes bytes outside the heap, or
 * the garbage collector would let a million texts grow to some times their size before it looks at them.
 */
export class PetCache {
  #blocks = new Map<number, Block>();
  #bytes = 0;

  get(id: number): string | undefined {
    const place = id % BLOCK_SIZE;
    const block = this.#blocks.get(id - place);
    if (block === undefined) return undefined;
    return block.ends === undefined ? block.texts[place] : decoder.decode(
      block.bytes.subarray(place === 0 ? 0 : block.ends[place - 1], block.ends[place]),
    );
  }

  put(id: number, text: string): void {
    const place = id % BLOCK_SIZE;
    let block = this.#blocks.get(id - place);
    if (block === undefined) {
      block = { texts: new Array(BLOCK_SIZE).fill(undefined), missing: BLOCK_SIZE };
      this.#blocks.set(id - place, block);
    }
    if (block.ends !== undefined || block.texts[place] !== undefined) return;
    block.texts[place] = text;
    this.#bytes += text.length;
    if (--block.missing === 0) {
      const packed = pack(block.texts as string[]);
      this.#blocks.set(id - place, packed);
      this.#bytes += sizeOf(packed) - sizeOf(block);
    }
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
  texts: (string | undefined)[];
  missing: number;
  ends?: undefined;
}

/** All texts one after the other in UTF-8, and where each of them ends. */
interface PackedBlock {
  bytes: Uint8Array;
  ends: Uint32Array;
}

type Block = OpenBlock | PackedBlock;

function pack(texts: string[]): PackedBlock {
  const encoded = texts.map((text) => encoder.encode(text));
  let end = 0;
  const ends = Uint32Array.from(encoded, ({ length }) => end += length);
  const bytes = new Uint8Array(end);
  for (const [place, part] of encoded.entries()) {
    bytes.set(part, place === 0 ? 0 : ends[place - 1]);
  }
  return { bytes, ends };
}

function sizeOf(block: Block): number {
  return block.ends === undefined
    ? block.texts.reduce((size, text) => size + (text?.length ?? 0), 0)
    : block.bytes.length;
}
