// How names are compared without regard to case, as the interface does it.

export function foldCase(text) {
  return text.normalize("NFKC").toLowerCase().toUpperCase().normalize("NFKC");
}
