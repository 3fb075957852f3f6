/**
 * The text by which texts are compared without regard to case and to the form of characters (NFKC), the same in every
 * locale. Each part of a text is folded as the text is, so a part is found in it. The final sigma, ß and the dotless i are
 * as Σ, SS and I.
 */
export function foldCase(text: string): string {
  // In lower case first, because some letters have an upper case only so. NFKC again, because cases may decompose.
  return text.normalize("NFKC").toLowerCase().toUpperCase().normalize("NFKC");
}
