// The kinds of events. Each has a word, and the number of its colour.

const WORDS_BY_TYPE = { PetCreated: "added", PetUpdated: "changed", PetRemoved: "removed" };
const TYPES = Object.keys(WORDS_BY_TYPE);

export const KIND_WORDS = Object.values(WORDS_BY_TYPE);

export function kindOf({ type }) {
  return TYPES.indexOf(type);
}

/** Whether the event is of an animal. The page passes over all others, such as the names of categories. */
export function isOfAnimal({ type }) {
  return TYPES.includes(type);
}
