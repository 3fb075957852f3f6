/** What keys of a keyboard mean. */

const LAST_OF_ASCII = "~";

/** The small letter or name of a pressed key. A letter of another script is the Latin one at its place. */
export function latinKey({ key, code }: KeyboardEvent): string {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  const isOther = key.length === 1 && key > LAST_OF_ASCII;
  const latin = isOther ? letter : undefined;
  return (latin ?? key).toLowerCase();
}
