import { PAGE_BYTES } from "./overwrite_page.ts";

/** The first byte of a page of SQLite that has the last level of a tree of keys. */
const LEAF = 0x0a;
/** Where such a page has its number of cells, and the places of its cells in the order of their keys. */
const COUNT_AT = 3;
const CELLS_AT = 8;

/**
 * Swaps the first cells of each page that has several, from the second half of the file on. Then searches do not find
 * some keys, although each record has its checksum.
 */
export function swapCells(path: string): void {
  const file = Deno.readFileSync(path);
  const pages = file.length / PAGE_BYTES;
  for (let number = Math.floor(pages / 2); number < pages; number++) {
    const page = number * PAGE_BYTES;
    const count = file[page + COUNT_AT] * 256 + file[page + COUNT_AT + 1];
    if (file[page] !== LEAF || count < 4) continue;
    const cells = file.slice(page + CELLS_AT, page + CELLS_AT + 4);
    file.set([...cells.slice(2), ...cells.slice(0, 2)], page + CELLS_AT);
  }
  Deno.writeFileSync(path, file);
}
