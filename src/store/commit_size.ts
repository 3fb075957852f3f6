import { keyBytes } from "./keyspace.ts";
import {
  COMMIT_BYTES_LIMIT,
  COMMIT_KEY_BYTES_LIMIT,
  COMMIT_MUTATIONS_LIMIT,
  type Mutation,
} from "./store.ts";

/** Room in a commit for the records that go with every commit, and for what KV adds to keys and values. */
const RESERVE_BYTES = 16_384;
const RESERVE_MUTATIONS = 2;

/** How large a commit is becoming, measured against the limits of Deno KV. */
export class CommitSize {
  #mutations = 0;
  #bytes = 0;
  #keyBytes = 0;

  /** Counts a little more than KV does: a string outside Latin-1 takes two bytes a character. */
  add(mutation: Mutation): void {
    const keyLength = keyBytes(mutation.key);
    this.#mutations++;
    this.#keyBytes += keyLength;
    this.#bytes += keyLength;
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

/** The mutations in order, in parts that fit into a commit each. */
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
