/** What keys of a keyboard mean. */

/** The code of a key that an input method has taken. Safari ends the composition before it sends the last of its keys. */
const TAKEN = 229;
const LAST_OF_ASCII = "~";

/** The small letter or name of a pressed key. A letter of another script is the Latin one at its place. */
export function latinKey({ key, code }: KeyboardEvent): string {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  const isOther = key.length === 1 && key > LAST_OF_ASCII;
  const latin = isOther ? letter : undefined;
  return (latin ?? key).toLowerCase();
}

/** Whether a key belongs to an input method, for example to choose a Chinese character. No part of the page uses it. */
export function belongsToInputMethod(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === TAKEN;
}

export const TEXT_INPUTS = "input:not([type=checkbox], [type=radio], [type=file])";

/** Whether keys type into the element, or move a cursor in it. */
export function isText(target: Element): boolean {
  return target.matches(`textarea, ${TEXT_INPUTS}`);
}

/** Outside of a text, the browser would undo or repeat what was typed in another one. */
export function stopUndoElsewhere(event: KeyboardEvent): void {
  const isKey = (event.ctrlKey || event.metaKey) && ["z", "y"].includes(latinKey(event));
  if (isKey && !isText(event.target as Element)) event.preventDefault();
}
