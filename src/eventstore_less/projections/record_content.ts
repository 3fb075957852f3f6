/** The contents of records that hold the state of a subject: the position of its last event, and then JSON. */

import type { RecordedData } from "../definitions.ts";
import { pooledBytes } from "../encoding/pooled_bytes.ts";
import { dataOf } from "../log/line_text.ts";

const ZERO = 0x30;
const NINE = 0x39;
const OPENING_BRACE = 0x7b;

const decoder = new TextDecoder();

/**
 * The content of a record that is the data of its event, and that a command can decide on: it names the event, whose line
 * proves it. {@linkcode dataOf} alone is enough for a record that no command decides on.
 */
export function recordOf({ event, line }: RecordedData<object>): Uint8Array {
  const digits = String(event.position);
  const data = dataOf(line);
  const content = pooledBytes(digits.length + data.length);
  // A TextEncoder takes longer for so few digits.
  for (let index = 0; index < digits.length; index++) content[index] = digits.charCodeAt(index);
  content.set(data, digits.length);
  return content;
}

/** The position at the start of a content; `undefined` without one. */
export function positionIn(content: Uint8Array): number | undefined {
  const digits = digitsIn(content);
  return digits === 0 ? undefined : Number(decoder.decode(content.subarray(0, digits)));
}

/** The JSON in a content, without a position before an object. */
export function jsonIn(content: Uint8Array): Uint8Array {
  const digits = digitsIn(content);
  return content[digits] === OPENING_BRACE ? content.subarray(digits) : content;
}

function digitsIn(content: Uint8Array): number {
  let count = 0;
  while (content[count] >= ZERO && content[count] <= NINE) count++;
  return count;
}
