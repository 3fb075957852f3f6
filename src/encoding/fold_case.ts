/**
 * The text by which texts are compared without regard to case and to the form of characters (NFKC), the same in every
 * locale. Each part of a text is folded as the text is, so a part is found in it. The final sigma, ß, ı and İ are as Σ, SS,
 * I and I.
 */
export function foldCase(text: string): string {
  // Lower case comes first, because ẞ is its own upper case, and that of ß is SS. NFKC follows again, because a change of
  // case may decompose a letter.
  const inUpperCase = text.normalize("NFKC").toLowerCase().toUpperCase();
  return inUpperCase.replaceAll("I\u0307", "I").normalize("NFKC");
}
