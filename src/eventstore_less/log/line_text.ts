/** The text of a line, as far as it is known without the types of events. */

import { SHA256_HEX, ULID } from "../encoding/text_forms.ts";
import { ACTOR_IN_LINE } from "./actor.ts";

const SEQUENCE_DIGITS = 16;

const OPENING_BRACE = 0x7b;

/** The characters of a line between its `previoushash` and its data. */
export const HASH_TO_DATA = '","data":';

const decoder = new TextDecoder();

/** The pattern of a position in a line. */
export const SEQUENCE = `\\d{${SEQUENCE_DIGITS}}`;

/** The version of a schema: 1 or 2, or since format 6 a release such as 6.1. */
export const VERSION = "[1-9]\\d*(?:\\.\\d+)*";

/** Matches a line as `encodeEvent()` writes it. A pattern, not a schema, because the log is long. */
export function linePatternOf(eventSource: string): RegExp {
  return new RegExp(
    `^{"specversion":"1\\.0","id":"(${ULID})","source":"${eventSource}",` +
      `"type":"([A-Z][A-Za-z0-9]*)","time":"([^"]*)","sequence":"(${SEQUENCE})"` +
      `(?:,"predecessor":"(${SEQUENCE})")?,"subject":"([^"]*)",` +
      `"dataschema":"([^"]*):(${VERSION})","actor":"(${ACTOR_IN_LINE})"` +
      `(?:,"idempotencykey":"(${SHA256_HEX})")?,` +
      `"previoushash":"(${SHA256_HEX})","data":({.*})}$`,
    "s",
  );
}

/** A position in fixed width, so that positions sort as texts. */
export function sequenceOf(position: number): string {
  return String(position).padStart(SEQUENCE_DIGITS, "0");
}

/** The bytes of the `data` of a line that `encodeEvent()` has written. They share its memory. */
export function dataOf(line: Uint8Array): Uint8Array {
  // The members before `data` contain no brace.
  return line.subarray(line.indexOf(OPENING_BRACE, 1), line.length - 1);
}

/** Whether a line that `encodeEvent()` has written has that `previoushash`. Its event is not decoded. */
export function followsHash(line: Uint8Array, hash: string): boolean {
  const end = line.indexOf(OPENING_BRACE, 1) - HASH_TO_DATA.length;
  return decoder.decode(line.subarray(end - hash.length, end)) === hash;
}
