/**
 * The encoding of keys as bytes that sort in key order: a tuple encoding like FoundationDB's, byte for byte the
 * one of Deno KV (https://github.com/denoland/denokv, proto/codec.rs).
 */

import type { Key, KeyPart, KeyRange } from "./store.ts";

const BYTES = 0x01;
const TEXT = 0x02;
const DOUBLE = 0x21;
/** The tags of bigints and booleans, which occur only in keys of other programs. */
const isForeignTag = (tag: number) => tag >= 0x0b && tag <= 0x1d || tag === 0x26 || tag === 0x27;

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
    const double = new Uint8Array(8);
    new DataView(double.buffer).setFloat64(0, part);
    bytes.push(DOUBLE, ...sortable(double, isSignSet(double)));
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
 * Decodes a key. Throws `TypeError` if the bytes are not a key. From a bigint or boolean of another program on, the rest
 * of its key is one part.
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
  const takePart = (): KeyPart => {
    const [tag] = take(1);
    if (tag === BYTES) return takeEscaped();
    if (tag === TEXT) return decoder.decode(takeEscaped());
    if (isForeignTag(tag)) return bytes.slice(--offset, offset = bytes.length);
    if (tag !== DOUBLE) throw new TypeError(`Tag ${tag} of a part of a key is not known`);
    const double = take(ENCODED_NUMBER_BYTES - 1);
    return new DataView(sortable(double, !isSignSet(double)).buffer).getFloat64(0);
  };
  const key: KeyPart[] = [];
  while (offset < bytes.length) key.push(takePart());
  return key;
}

/** Makes a number sort, or undoes that: inverts all bits of a negative one, and the sign of a positive one. */
function sortable(bytes: Uint8Array, isNegative: boolean): Uint8Array<ArrayBuffer> {
  const [sign, rest] = isNegative ? [0xff, 0xff] : [0x80, 0x00];
  return Uint8Array.from(bytes, (byte, index) => byte ^ (index === 0 ? sign : rest));
}

function isSignSet(bytes: Uint8Array): boolean {
  return (bytes[0] & 0x80) !== 0;
}

/**
 * Formats a store key as readable text. Different keys have different texts. Bigints and booleans occur only in
 * the keys of other programs.
 */
export function formatKey(key: readonly unknown[]): string {
  return `[${key.map(partText).join(",")}]`;
}

function partText(part: unknown): string {
  if (part instanceof Uint8Array) return `0x${part.toHex()}`;
  if (typeof part === "bigint") return `${part}n`;
  if (typeof part === "string") return JSON.stringify(part);
  return Object.is(part, -0) ? "-0" : String(part);
}
