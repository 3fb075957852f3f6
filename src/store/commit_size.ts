import { keyBytes } from "../keyspace.ts";
import type { Mutation, StoreLimits } from "./store.ts";

/** Space in a commit for the records that every commit has, and for the overhead of the store. */
const RESERVE_BYTES = 16_384;
const RESERVE_MUTATIONS = 2;

/** Adds up the size of a commit and compares it with the limits of a store. */
export class CommitSize {
  #limits: StoreLimits;
  #mutations = 0;
  #bytes = 0;
  #keyBytes = 0;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  /**
   * Counts a key twice, as Deno KV does (measured), and two bytes per character, as for a string outside
   * Latin-1.
   */
  add(mutation: Mutation): void {
    const keyLength = keyBytes(mutation.key);
    this.#mutations++;
    this.#keyBytes += keyLength;
    this.#bytes += 2 * keyLength;
    if (mutation.type !== "set") return;
    const { value } = mutation;
    this.#bytes += typeof value === "string" ? 2 * value.length : value.length;
  }

  get exceedsLimits(): boolean {
    const { commitMutations, commitBytes, commitKeyBytes } = this.#limits;
    return this.#mutations > commitMutations - RESERVE_MUTATIONS ||
      this.#bytes > commitBytes - RESERVE_BYTES ||
      this.#keyBytes > commitKeyBytes - RESERVE_BYTES;
  }
}

/** Splits mutations, in order, into parts that each fit into one commit. */
export function* splitIntoCommits(
  mutations: Iterable<Mutation>,
  limits: StoreLimits,
): Generator<Mutation[]> {
  let part: Mutation[] = [];
  let size = new CommitSize(limits);
  for (const mutation of mutations) {
    size.add(mutation);
    if (part.length > 0 && size.exceedsLimits) {
      yield part;
      part = [];
      size = new CommitSize(limits);
      size.add(mutation);
    }
    part.push(mutation);
  }
  if (part.length > 0) yield part;
}
