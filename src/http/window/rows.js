// Which animals are rows of the list.

/** The ids of the animals that are listed, and of those that left the list while the reader edits them. */
export function rowsOf(pets, edits) {
  const ids = new Set(pets.keys());
  for (const [id, { left }] of edits) {
    if (left !== undefined) ids.add(id);
  }
  return [...ids].sort((a, b) => b - a);
}
