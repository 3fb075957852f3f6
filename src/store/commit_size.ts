import { keyBytes } from "../keyspace.ts";
import {
  COMMIT_BYTES_LIMIT,
  COMMIT_KEY_BYTES_LIMIT,
  COMMIT_MUTATIONS_LIMIT,
  type Mutation,
} from "./store.ts";

/** Space in a commit for the records that every commit has, and for the overhead of KV. */
const RESERVE_BYTES = 16_384;
const RESERVE_MUTATIONS = 2;

/** Adds up the size of a commit and compares it with the limits of Deno KV. */
export class CommitSize {
  #mutations = 0;
  #bytes = 0;
  #keyBytes = 0;

  /**
   * Counts a key twice, as KV does (measured), and two bytes per character, as for a string outside Latin-1.
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
    return this.#mutations > COMMIT_MUTATIONS_LIMIT - RESERVE_MUTATIONS ||
      this.#bytes > COMMIT_BYTES_LIMIT - RESERVE_BYTES ||
      this.#keyBytes > COMMIT_KEY_BYTES_LIMIT - RESERVE_BYTES;
  }
}

/** Splits mutations, in order, into parts that each fit into one commit. */
export function* splitIntoCommits(mutations: Iterable<Mutation>): Generator<Mutation[]> {
  let part: Mutation[] = [];
  let size = new CommitSize();
  for (const mutation of mutations) {
    size.add(mutation);
    if (part.length > 0 && size.exceedsLimits) {
      yield part;
      part = [];
      size = new CommitSize();
      size.add(mutation);
    }
    part.push(mutation);
  }
  if (part.length > 0) yield part;
}
