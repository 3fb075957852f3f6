/** Characters on which a terminal would act, or which would make it show another text; without the line feed. */
const INVISIBLE = /[[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--\n]/gv;

/** Escapes such characters as JSON does. A text in JSON keeps its meaning. */
export function escapeInvisible(text: string): string {
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(INVISIBLE, (character) => character.split("").map(escape).join(""));
}
