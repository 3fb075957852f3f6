import { dataOf, type RecordedLine } from "../../events/event.ts";
import type { StoreLimits } from "../store/store.ts";

/** Space in a commit for the head, some 210 packed records at most, and the store's overhead. */
const RESERVE_BYTES = 49_152;
const RESERVE_KEY_BYTES = 16_384;
const RESERVE_MUTATIONS = 220;

/** Most bytes of the key of an idempotency record or of a record of an API key. */
const OWN_RECORD_KEY_BYTES = 160;

/** Most bytes of the value of an idempotency record. */
const IDEMPOTENCY_VALUE_BYTES = 96;

export interface AppendSizeOptions {
  /** The commit writes the records of this many generations. */
  generations: number;
  /** Whether the commit writes the lines themselves. */
  withLog: boolean;
  limits: StoreLimits;
}

/** Adds up what events take of a commit at most, and compares it with the limits of a store. */
export class AppendSize {
  #limits: StoreLimits;
  #generations: number;
  #withLog: boolean;
  #ownRecords = 0;
  #bytes = 0;

  constructor({ generations, withLog, limits }: AppendSizeOptions) {
    this.#limits = limits;
    this.#generations = generations;
    this.#withLog = withLog;
  }

  add(recorded: RecordedLine): void {
    const { line } = recorded;
    if (this.#withLog) this.#bytes += line.length + 1;
    // A pet is stored twice in each generation: by its id and by its status.
    this.#bytes += this.#generations * 2 * (dataOf(line).length + 1);
    const ownBytes = ownRecordBytes(recorded);
    if (ownBytes === 0) return;
    this.#ownRecords += this.#generations;
    this.#bytes += this.#generations * ownBytes;
  }

  get exceedsLimits(): boolean {
    const { commitMutations, commitBytes, commitKeyBytes } = this.#limits;
    return this.#ownRecords > commitMutations - RESERVE_MUTATIONS ||
      this.#bytes > commitBytes - RESERVE_BYTES ||
      this.#ownRecords * OWN_RECORD_KEY_BYTES > commitKeyBytes - RESERVE_KEY_BYTES;
  }
}

/**
 * Most bytes of the event's own record in a generation, besides packed texts of pets; 0 without one. Deno KV
 * counts a key twice (measured).
 */
function ownRecordBytes({ event, line }: RecordedLine): number {
  // Outside of Latin-1, a character of a record takes two bytes, and at least two in the line.
  if (event.type !== "PetCreated") return 2 * OWN_RECORD_KEY_BYTES + 2 * line.length;
  if (event.idempotencyKey === undefined) return 0;
  return 2 * OWN_RECORD_KEY_BYTES + IDEMPOTENCY_VALUE_BYTES;
}

/** Groups lines, in order, so that each group fits into one commit. */
export async function* groupForCommits(
  batches: AsyncIterable<readonly RecordedLine[]>,
  options: AppendSizeOptions,
): AsyncGenerator<RecordedLine[]> {
  let group: RecordedLine[] = [];
  let size = new AppendSize(options);
  for await (const batch of batches) {
    for (const line of batch) {
      size.add(line);
      if (group.length > 0 && size.exceedsLimits) {
        yield group;
        group = [];
        size = new AppendSize(options);
        size.add(line);
      }
      group.push(line);
    }
  }
  if (group.length > 0) yield group;
}
