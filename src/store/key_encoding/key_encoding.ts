/**
 * The encoding of keys as bytes that sort in key order: a tuple encoding like FoundationDB's, byte for byte the
 * one of Deno KV (https://github.com/denoland/denokv, proto/codec.rs).
 */

import type { Key, KeyPart, KeyRange } from "../store.ts";

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

/** Encodes a key. The bytes of a key begin with those of each of its prefixes. */
export function encodeKey(key: Key): Uint8Array {
  const bytes: number[] = [];
  for (const part of key) appendPart(bytes, part);
  return Uint8Array.from(bytes);
}

/** The bounds of a range. A longer key begins with its prefix and the tag of its next part, 1 to 254. */
export function encodeRange(
  { prefix, start, end }: KeyRange,
): { start: Uint8Array; end: Uint8Array } {
  if (prefix === undefined) return { start: encodeKey(start), end: encodeKey(end) };
  const encoded = encodeKey(prefix);
  return {
    start: start === undefined ? Uint8Array.of(...encoded, 0x00) : encodeKey(start),
    end: Uint8Array.of(...encoded, 0xff),
  };
}

function appendPart(bytes: number[], part: KeyPart): void {
  if (typeof part === "number") {
    bytes.push(DOUBLE, ...encodeDouble(part));
    return;
  }
  const isText = typeof part === "string";
  bytes.push(isText ? TEXT : BYTES);
  for (const byte of isText ? encoder.encode(part) : part) {
    bytes.push(byte);
    if (byte === END) bytes.push(ESCAPE);
  }
  bytes.push(END);
}

/**
 * Decodes a key. Throws `TypeError` if the bytes are not a key. It also decodes bigints and booleans, which occur
 * in keys of other programs.
 */
export function decodeKey(bytes: Uint8Array): Key {
  let offset = 0;
  const take = (length: number): Uint8Array => {
    const end = offset + length;
    if (end > bytes.length) throw new TypeError("A key ends within one of its parts");
    return bytes.slice(offset, offset = end);
  };
  const takeEscaped = (): Uint8Array<ArrayBuffer> => {
    const content: number[] = [];
    for (;;) {
      const [byte] = take(1);
      if (byte === END) {
        if (bytes[offset] !== ESCAPE) return Uint8Array.from(content);
        offset++;
      }
      content.push(byte);
    }
  };
  const takePart = (): KeyPart | bigint | boolean => {
    const [tag] = take(1);
    if (tag === BYTES) return takeEscaped();
    if (tag === TEXT) return decoder.decode(takeEscaped());
    if (tag === DOUBLE) return decodeDouble(take(ENCODED_NUMBER_BYTES - 1));
    if (tag === FALSE || tag === TRUE) return tag === TRUE;
    if (tag === LONG_NEGATIVE) return -bigintOf(inverted(take(255 - take(1)[0])));
    if (tag === LONG_POSITIVE) return bigintOf(take(take(1)[0]));
    if (tag < LONG_NEGATIVE || tag > LONG_POSITIVE) {
      throw new TypeError(`Tag ${tag} of a part of a key is not known`);
    }
    return tag < ZERO ? -bigintOf(inverted(take(ZERO - tag))) : bigintOf(take(tag - ZERO));
  };
  const key: unknown[] = [];
  while (offset < bytes.length) key.push(takePart());
  return key as KeyPart[];
}

function bigintOf(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => value << 8n | BigInt(byte), 0n);
}

/** Sets the sign bit of a positive number, and inverts all bits of a negative one. */
function encodeDouble(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return isSignSet(bytes) ? inverted(bytes) : withSignInverted(bytes);
}

function decodeDouble(bytes: Uint8Array): number {
  const plain = isSignSet(bytes) ? withSignInverted(bytes) : inverted(bytes);
  return new DataView(plain.buffer).getFloat64(0);
}

function isSignSet(bytes: Uint8Array): boolean {
  return (bytes[0] & 0x80) !== 0;
}

function withSignInverted(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.of(bytes[0] ^ 0x80, ...bytes.subarray(1));
}

function inverted(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes, (byte) => ~byte);
}
