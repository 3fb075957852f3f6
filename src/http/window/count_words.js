// Numbers with their nouns.

export function animals(count) {
  return count === 1 ? "1 animal" : `${count.toLocaleString()} animals`;
}

export function animalsWere(count) {
  return `${animals(count)} ${count === 1 ? "was" : "were"}`;
}

export function lines(count) {
  return count === 1 ? "1 line" : `${count.toLocaleString()} lines`;
}
