/** The text, cut so that it takes at most that many columns. A character outside of ASCII may take two. */
export function shortened(text: string, columns: number): string {
  let width = 0;
  let fitting = "";
  for (const character of text) {
    width += character.charCodeAt(0) < 0x80 ? 1 : 2;
    if (width <= columns - 2) fitting += character;
  }
  return width <= columns ? text : `${fitting}…`;
}
