/** Numbers with their nouns. */

export function animals(count: number): string {
  return count === 1 ? "1 animal" : `${count.toLocaleString("en")} animals`;
}

export function animalsAre(count: number): string {
  return `${animals(count)} ${count === 1 ? "is" : "are"}`;
}

export function animalsWere(count: number): string {
  return `${animals(count)} ${count === 1 ? "was" : "were"}`;
}
