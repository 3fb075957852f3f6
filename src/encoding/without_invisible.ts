/** Characters that show nothing by themselves: those of no width, soft hyphens, marks of direction, variation selectors. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;

/** The text without characters that nobody sees. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, "");
}
