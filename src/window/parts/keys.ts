/** What keys of a keyboard mean. */

/** The code of a key that an input method has taken. Safari ends the composition before it sends the last of its keys. */
const TAKEN = 229;

/** Whether a key belongs to an input method, for example to choose a Chinese character. No part of the page uses it. */
export function belongsToInputMethod(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === TAKEN;
}
