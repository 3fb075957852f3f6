// How names are compared without regard to case, as the interface does it.

export function foldCase(text) {
  const inUpperCase = text.normalize("NFKC").toLowerCase().toUpperCase();
  return inUpperCase.replaceAll("I\u0307", "I").normalize("NFKC");
}
