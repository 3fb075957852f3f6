/** The contents of the records of pets: text in UTF-8. */

import { encodeUtf8Pooled } from "eventstore-less/parts";
import { encodePet, type Pet } from "../../events/pet.ts";

const ZERO = 0x30;
const OPENING_BRACE = 0x7b;

/** The content of the record of a pet: the position of the event that made it, and its JSON text. */
export function petContentOf(position: number, pet: Pet): Uint8Array {
  return encodeUtf8Pooled(`${position}${encodePet(pet)}`);
}

/** The content of the record of a removal: the position of its event. */
export function removalContentOf(position: number): Uint8Array {
  return encodeUtf8Pooled(String(position));
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
