/** Numbers in sentences, with their nouns. */

/** A number as people read it, with a comma before every three digits. */
export function grouped(count: number): string {
  return count.toLocaleString("en");
}

export function changesWait(count: number): string {
  return count === 1 ? "1 change waits" : `${grouped(count)} changes wait`;
}

export function animals(count: number): string {
  return count === 1 ? "1 animal" : `${grouped(count)} animals`;
}

export function animalsAre(count: number): string {
  return `${animals(count)} ${count === 1 ? "is" : "are"}`;
}

export function animalsWere(count: number): string {
  return `${animals(count)} ${count === 1 ? "was" : "were"}`;
}
