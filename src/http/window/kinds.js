// The kinds of events. Each has a word, and the number of its colour.

const WORDS_BY_TYPE = { PetCreated: "added", PetUpdated: "changed", PetRemoved: "removed" };
const TYPES = Object.keys(WORDS_BY_TYPE);

export const KIND_WORDS = Object.values(WORDS_BY_TYPE);

export function kindOf({ type }) {
  return TYPES.indexOf(type);
}
