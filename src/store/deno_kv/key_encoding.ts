/**
 * Deno KV's encoding of keys as bytes that sort in key order: a tuple encoding like FoundationDB's
 * (https://github.com/denoland/denokv, proto/codec.rs).
 */

const BYTES = 0x01;
const TEXT = 0x02;
/** The two LONG tags mark bigints over eight bytes. Tags between them mark shorter ones, with 0 at ZERO. */
const LONG_NEGATIVE = 0x0b;
const ZERO = 0x14;
const LONG_POSITIVE = 0x1d;
const DOUBLE = 0x21;
const FALSE = 0x26;
const TRUE = 0x27;

/** Ends a text or byte array. A zero byte inside one is followed by ESCAPE. */
const END = 0x00;
const ESCAPE = 0xff;

/** Length of an encoded number in bytes, with its tag. */
export const ENCODED_NUMBER_BYTES = 9;

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/** Encodes a text part of a key. The text must not contain zero bytes. */
export function encodeTextPart(text: string): Uint8Array {
  return Uint8Array.of(TEXT, ...encoder.encode(text), END);
}

/** Decodes a key. Throws `TypeError` if the bytes are not a key. */
export function decodeKey(bytes: Uint8Array): Deno.KvKey {
  const reader = new KeyReader(bytes);
  const key: Deno.KvKeyPart[] = [];
  while (!reader.isAtEnd) key.push(reader.readPart());
  return key;
}

class KeyReader {
  #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  readPart(): Deno.KvKeyPart {
    const tag = this.#take(1)[0];
    switch (tag) {
      case BYTES:
        return this.#takeEscaped();
      case TEXT:
        return decoder.decode(this.#takeEscaped());
      case DOUBLE:
        return doubleOf(this.#take(ENCODED_NUMBER_BYTES - 1));
      case FALSE:
        return false;
      case TRUE:
        return true;
      case LONG_NEGATIVE:
        return -bigintOf(inverted(this.#take(255 - this.#take(1)[0])));
      case LONG_POSITIVE:
        return bigintOf(this.#take(this.#take(1)[0]));
    }
    if (tag < LONG_NEGATIVE || tag > LONG_POSITIVE) {
      throw new TypeError(`Tag ${tag} of a part of a key is not known`);
    }
    return tag < ZERO
      ? -bigintOf(inverted(this.#take(ZERO - tag)))
      : bigintOf(this.#take(tag - ZERO));
  }

  #take(length: number): Uint8Array {
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new TypeError("A key ends within one of its parts");
    return this.#bytes.slice(this.#offset, this.#offset = end);
  }

  #takeEscaped(): Uint8Array<ArrayBuffer> {
    const content: number[] = [];
    for (;;) {
      const [byte] = this.#take(1);
      if (byte === END) {
        if (this.#bytes[this.#offset] !== ESCAPE) return Uint8Array.from(content);
        this.#offset++;
      }
      content.push(byte);
    }
  }
}

function bigintOf(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => value << 8n | BigInt(byte), 0n);
}

/** The encoding sets the sign bit of a positive number, and inverts all bits of a negative one. */
function doubleOf(bytes: Uint8Array): number {
  const isNegative = (bytes[0] & 0x80) === 0;
  const plain = isNegative ? inverted(bytes) : Uint8Array.of(bytes[0] ^ 0x80, ...bytes.subarray(1));
  return new DataView(plain.buffer).getFloat64(0);
}

function inverted(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes, (byte) => ~byte);
}
