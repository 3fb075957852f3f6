/** Large pages: they take turns with other work, and share a limit of memory while clients read them. */

import type { BackgroundWork, ForegroundRequest } from "eventstore-less/feed/background_work.ts";
import { LARGE_PAGE_LENGTH, type Page } from "./page.ts";
import { ServiceError } from "eventstore-less/service_error.ts";
import { chunksOf } from "../api/http_response.ts";

/** Maximum text of the large pages that clients are reading, in UTF-16 code units. Clients of one page share it. */
export const READ_LENGTH_LIMIT = 32 * 1024 * 1024;

/** Gives large pages turns of the background work, in which they are read, compressed and sent. */
export class LargePages {
  #background: BackgroundWork;
  /** By the last pages that were read, in UTF-16 code units. */
  #lengthOfPet = 0;
  /** How many clients are reading each page now. */
  #readers = new Map<Page, number>();
  #readLength = 0;

  constructor(background: BackgroundWork) {
    this.#background = background;
  }

  turn = (): Promise<void> => this.#background.turn("pages");

  /** Resolves when a page of so many pets may be read; `undefined` if it may be read at once. */
  beforeRead = (limit: number): Promise<void> | undefined =>
    this.expects(limit) ? this.turn() : undefined;

  /** Whether a page of so many pets is likely to be large. Only its text could tell. */
  expects(limit: number): boolean {
    return limit * this.#lengthOfPet >= LARGE_PAGE_LENGTH;
  }

  noteRead({ text }: Page, limit: number): void {
    // Slowly, because the last page of a list has few pets.
    this.#lengthOfPet = Math.max(text.length / limit, this.#lengthOfPet / 2);
  }

  /** Keeps nothing free for a request any more, because it has turns. */
  leave(request: ForegroundRequest): void {
    this.#background.requestLeft(request);
  }

  /** The body of a response with a page, as its text or in gzip. Throws `overloaded`. */
  stream(page: Page, body: string | Uint8Array): ReadableStream<Uint8Array> {
    const length = this.#readers.has(page) ? 0 : page.text.length;
    if (this.#readLength + length > READ_LENGTH_LIMIT) {
      throw new ServiceError("overloaded", "Too many clients read large pages and are slow");
    }
    return ReadableStream.from(this.#chunks(page, body));
  }

  async *#chunks(page: Page, body: string | Uint8Array): AsyncGenerator<Uint8Array> {
    this.#addReader(page);
    try {
      yield* chunksOf(body);
    } finally {
      this.#removeReader(page);
    }
  }

  #addReader(page: Page): void {
    const readers = this.#readers.get(page) ?? 0;
    if (readers === 0) this.#readLength += page.text.length;
    this.#readers.set(page, readers + 1);
  }

  #removeReader(page: Page): void {
    const readers = this.#readers.get(page)! - 1;
    if (readers > 0) {
      this.#readers.set(page, readers);
      return;
    }
    this.#readers.delete(page);
    this.#readLength -= page.text.length;
  }
}
