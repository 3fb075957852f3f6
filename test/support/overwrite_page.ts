export const PAGE_BYTES = 4_096;

/** Damages a page of a file of SQLite; the first one is 0. */
export function overwritePage(path: string, page: number): void {
  using file = Deno.openSync(path, { write: true });
  file.seekSync(page * PAGE_BYTES, Deno.SeekMode.Start);
  file.writeSync(new Uint8Array(PAGE_BYTES).fill(0xff));
}
