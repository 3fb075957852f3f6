/**
 * The encoding of keys as bytes that sort in key order: a tuple encoding like FoundationDB's, byte for byte the
 * one of Deno KV (https://github.com/denoland/denokv, proto/codec.rs).
 */

import { Buffer } from "node:buffer";
import { hexOf } from "../encoding/hex.ts";
import type { Key, KeyPart, KeyRange } from "./store.ts";

const BYTES = 0x01;
const TEXT = 0x02;
const DOUBLE = 0x21;
/** The tags of bigints and booleans, which occur only in keys of other programs. */
const isForeignTag = (tag: number) => tag >= 0x0b && tag <= 0x1d || tag === 0x26 || tag === 0x27;

/** Ends a text or byte array. A zero byte inside one is followed by ESCAPE. */
const END = 0x00;
const ESCAPE = 0xff;

const CUT = "A key ends within one of its parts";

/** Texts that consist of single bytes in UTF-8. */
const ASCII = /^[\0-\x7f]*$/;

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/** The key that is encoded. It is reused, because typed arrays are slow to make (measured). */
let written = new Uint8Array(1_024);

/** The number that is encoded or decoded, and its bytes. */
const double = new Uint8Array(8);
const view = new DataView(double.buffer);

/** The last decoded key that ends in a number: its bytes up to that number, with its tag, and its parts. */
let lastPrefix = { bytes: new Uint8Array(), parts: [] as readonly KeyPart[] };

/** Encodes a key. The bytes of a key begin with the bytes of each of its prefixes. */
export function encodeKey(key: Key): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of key) length = writePart(part, length);
  return written.slice(0, length);
}

/** The bounds of a range. A longer key begins with its prefix and the tag of its next part, 1 to 254. */
export function encodeRange({ prefix, start, end }: KeyRange): Record<"start" | "end", Uint8Array> {
  if (prefix === undefined) return { start: encodeKey(start), end: encodeKey(end) };
  const encoded = encodeKey(prefix);
  return {
    start: start === undefined ? Uint8Array.of(...encoded, 0x00) : encodeKey(start),
    end: Uint8Array.of(...encoded, 0xff),
  };
}

/** Writes a part of a key at an offset, and returns the next offset. */
function writePart(part: KeyPart, offset: number): number {
  if (typeof part === "number") {
    view.setFloat64(0, part);
    flipSign(double[0] >= 0x80);
    reserve(offset + 1 + double.length);
    written[offset] = DOUBLE;
    written.set(double, offset + 1);
    return offset + 1 + double.length;
  }
  const isText = typeof part === "string";
  const content = isText && !ASCII.test(part) ? encoder.encode(part) : part;
  reserve(offset + 2 * content.length + 2);
  written[offset] = isText ? TEXT : BYTES;
  let next = offset + 1;
  for (let index = 0; index < content.length; index++) {
    const byte = typeof content === "string" ? content.charCodeAt(index) : content[index];
    written[next] = byte;
    next++;
    if (byte === END) {
      written[next] = ESCAPE;
      next++;
    }
  }
  written[next] = END;
  return next + 1;
}

function reserve(length: number): void {
  if (length <= written.length) return;
  const larger = new Uint8Array(2 * length);
  larger.set(written);
  written = larger;
}

/**
 * Decodes a key. Throws `TypeError` if the bytes are not a key. From a bigint or boolean of another program on, the rest
 * of its key is one part. A scan decodes the key of each record, so this copies as little as possible.
 */
export function decodeKey(bytes: Uint8Array): Key {
  const { length } = lastPrefix.bytes;
  // Most keys of a scan differ in their last number only.
  const isSimilar = length > 0 && bytes.length === length + double.length &&
    Buffer.compare(bytes.subarray(0, length), lastPrefix.bytes) === 0;
  if (isSimilar) return [...lastPrefix.parts, decodeNumber(bytes, length)];
  const key: KeyPart[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const tag = bytes[offset];
    const start = offset + 1;
    if (tag === TEXT || tag === BYTES) {
      const end = endOfPart(bytes, start);
      const part = unescaped(bytes.subarray(start, end));
      key.push(tag === TEXT ? decoder.decode(part) : part.slice());
      offset = end + 1;
    } else if (tag === DOUBLE) {
      const end = start + double.length;
      if (end > bytes.length) throw new TypeError(CUT);
      if (end === bytes.length) lastPrefix = { bytes: bytes.slice(0, start), parts: [...key] };
      key.push(decodeNumber(bytes, start));
      offset = end;
    } else if (isForeignTag(tag)) {
      key.push(bytes.slice(offset));
      offset = bytes.length;
    } else {
      throw new TypeError(`Tag ${tag} of a part of a key is not known`);
    }
  }
  return key;
}

/** The offset of the END of a text or byte array. */
function endOfPart(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(END, start);
  while (end !== -1 && bytes[end + 1] === ESCAPE) end = bytes.indexOf(END, end + 2);
  if (end === -1) throw new TypeError(CUT);
  return end;
}

/** The content of a part, without a copy if it has no escaped byte. */
function unescaped(part: Uint8Array): Uint8Array {
  if (!part.includes(END)) return part;
  return part.filter((byte, at) => byte !== ESCAPE || part[at - 1] !== END);
}

function decodeNumber(bytes: Uint8Array, offset: number): number {
  double.set(bytes.subarray(offset, offset + double.length));
  flipSign(double[0] < 0x80);
  return view.getFloat64(0);
}

/** Makes the number sort, or undoes that: inverts all bits of a negative one, and the sign of a positive one. */
function flipSign(isNegative: boolean): void {
  double[0] ^= isNegative ? 0xff : 0x80;
  for (let index = 1; isNegative && index < double.length; index++) double[index] ^= 0xff;
}

/** A text that no other key of texts and numbers has, for a map. It is made faster than {@linkcode formatKey}'s. */
export function keyText(key: readonly (string | number)[]): string {
  let text = "";
  for (const part of key) {
    text += typeof part === "number" ? `#${part};` : `${part.length}:${part}`;
  }
  return text;
}

/** Whether two keys of texts and numbers are the same. */
export function keysEqual(one: Key, other: Key): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index]);
}

/** Formats a key, also of another program, as readable text. Different keys have different texts. */
export function formatKey(key: readonly unknown[]): string {
  return `[${key.map(partText).join(",")}]`;
}

function partText(part: unknown): string {
  if (part instanceof Uint8Array) return `0x${hexOf(part)}`;
  if (typeof part === "bigint") return `${part}n`;
  if (typeof part === "string") return JSON.stringify(part);
  return Object.is(part, -0) ? "-0" : String(part);
}
