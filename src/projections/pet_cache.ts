/** How many pets with neighbouring ids lie together. */
export const BLOCK_SIZE = 64;

/** How much text is kept, in UTF-16 code units: a million pets of an ordinary kind. */
const LENGTH_LIMIT = 96 * 1024 * 1024;

/**
 * The texts of pets in memory. A block of neighbours that is whole becomes one text, which leaves the
 * garbage collector thousands of objects to look after where it would have millions.
 */
export class PetCache {
  #blocks = new Map<number, Block>();
  #length = 0;

  get(id: number): string | undefined {
    const place = id % BLOCK_SIZE;
    const block = this.#blocks.get(id - place);
    if (block === undefined) return undefined;
    return block.ends === undefined
      ? block.texts[place]
      : block.text.slice(place === 0 ? 0 : block.ends[place - 1], block.ends[place]);
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
    block.missing--;
    this.#length += text.length;
    if (block.missing === 0) this.#blocks.set(id - place, pack(block.texts as string[]));
    while (this.#length > LENGTH_LIMIT) this.#dropOldestBlock();
  }

  clear(): void {
    this.#blocks.clear();
    this.#length = 0;
  }

  #dropOldestBlock(): void {
    const [start, block] = this.#blocks.entries().next().value!;
    this.#blocks.delete(start);
    this.#length -= block.ends === undefined
      ? block.texts.reduce((length, text) => length + (text?.length ?? 0), 0)
      : block.text.length;
  }
}

/** Texts by their place in the block, some still missing; or all in one, with the ends of each. */
type Block =
  | { texts: (string | undefined)[]; missing: number; ends?: undefined }
  | { text: string; ends: Uint32Array };

function pack(texts: string[]): Block {
  let end = 0;
  return { ends: Uint32Array.from(texts, (text) => end += text.length), text: texts.join("") };
}
