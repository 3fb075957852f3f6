/** The contents of the records of pets: text in UTF-8. */

import { Buffer } from "node:buffer";
import { dataOf } from "eventstore-less/log/line_text.ts";

const ZERO = 0x30;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The content of the records of a pet: the position of the event that made it, and its JSON text. */
export function petContentOf(position: number, petText: Uint8Array): Uint8Array {
  const digits = String(position);
  const content = new Uint8Array(digits.length + petText.length);
  // Buffer.concat() takes several times as long.
  for (let index = 0; index < digits.length; index++) content[index] = digits.charCodeAt(index);
  content.set(petText, digits.length);
  return content;
}

/** The content of the record of a removal: the position of its event. */
export function removalContentOf(position: number): Uint8Array {
  return Buffer.from(String(position));
}

/** The text of the pet after the event of a line, or of the removed one. */
export function petTextOf(
  { event: { data }, line }: { event: { data: object }; line: Uint8Array },
) {
  const text = dataOf(line);
  if (!("previous" in data)) return text;
  // A text value contains no bare quotation mark, so the first match is the member.
  const end = Buffer.from(text.buffer, text.byteOffset, text.length).indexOf(',"previous":{');
  const petText = text.slice(0, end + 1);
  petText[end] = CLOSING_BRACE;
  return petText;
}

export function textIn(content: Uint8Array): Uint8Array {
  return content.subarray(content.indexOf(OPENING_BRACE));
}

/** The position at the start of the content of a record of a pet. */
export function positionIn(content: Uint8Array): number {
  let position = 0;
  for (let index = 0; content[index] !== OPENING_BRACE && index < content.length; index++) {
    position = 10 * position + content[index] - ZERO;
  }
  return position;
}
