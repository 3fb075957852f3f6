import { Buffer } from "node:buffer";

/** Maximum size of a buffer, in bytes, unless one text needs more. */
const BUFFER_BYTES = 64 * 1024;

/** Maximum bytes of a UTF-16 code unit in UTF-8. */
const UNIT_BYTES = 3;

/** The place of an encoded text. */
export interface EncodedText {
  /** The bytes of many texts. */
  buffer: Uint8Array;
  /** Offset of its first byte. */
  start: number;
  /** Offset after its last byte. */
  end: number;
}

/** Encodes texts in UTF-8, many into one buffer: the garbage collector needs long for many buffers that are kept. */
export class TextBuffer {
  #buffer = Buffer.alloc(0);
  #end = 0;

  add(text: string): EncodedText {
    const mostBytes = text.length * UNIT_BYTES;
    if (this.#end + mostBytes > this.#buffer.length) {
      // Each is twice as large as the one before, so that few texts take little memory.
      const bytes = Math.min(BUFFER_BYTES, 2 * this.#buffer.length);
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, mostBytes));
      this.#end = 0;
    }
    const start = this.#end;
    this.#end += this.#buffer.write(text, start);
    return { buffer: this.#buffer, start, end: this.#end };
  }
}
