import { dataOf, type RecordedLine } from "../../events/event.ts";
import { PET_STATUSES } from "../../events/pet.ts";
import { PackedCount } from "../encoding/pack_lines.ts";
import { LOG_RECORD_LIMIT_BYTES, PETS_RECORD_LIMIT_BYTES } from "../keyspace.ts";
import type { StoreLimits } from "../store/store.ts";

/** Space in a commit for the head and for the mark or the lease of a tool. */
const RESERVE_BYTES = 4_096;
const RESERVE_KEY_BYTES = 256;
const RESERVE_MUTATIONS = 4;

/** Maximum size of the key of a record of lines, in bytes. */
const PACKED_KEY_BYTES = 64;

/** Maximum size of the key of an idempotency record or of a record of an API key, in bytes. */
const OWN_KEY_BYTES = 160;

/** Maximum size of the value of an idempotency record, in bytes. */
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
  #log = new PackedCount(LOG_RECORD_LIMIT_BYTES);
  #pets = new PackedCount(PETS_RECORD_LIMIT_BYTES);
  #petsByStatus = PET_STATUSES.map((status) => ({
    status,
    pets: new PackedCount(PETS_RECORD_LIMIT_BYTES),
  }));
  /** Number of records in a generation that do not hold lines. */
  #ownRecords = 0;
  /** Size of all values. */
  #bytes = 0;

  constructor({ generations, withLog, limits }: AppendSizeOptions) {
    this.#limits = limits;
    this.#generations = generations;
    this.#withLog = withLog;
  }

  add({ event, line }: RecordedLine): void {
    if (this.#withLog) {
      this.#log.add(line.length);
      this.#bytes += line.length + 1;
    }
    if (event.type !== "PetCreated") {
      // Outside of Latin-1, a character of a record takes two bytes, and at least two in the line.
      return this.#addOwn(2 * line.length);
    }
    const { length } = dataOf(line);
    this.#addPet(this.#pets, length);
    for (const { status, pets } of this.#petsByStatus) {
      if (status === event.data.status) this.#addPet(pets, length);
    }
    if (event.idempotencyKey !== undefined) this.#addOwn(IDEMPOTENCY_VALUE_BYTES);
  }

  get exceedsLimits(): boolean {
    const { commitMutations, commitBytes, commitKeyBytes } = this.#limits;
    let packed = this.#pets.values;
    for (const { pets } of this.#petsByStatus) packed += pets.values;
    packed = packed * this.#generations + this.#log.values;
    const own = this.#ownRecords * this.#generations;
    const keyBytes = packed * PACKED_KEY_BYTES + own * OWN_KEY_BYTES;
    return packed + own > commitMutations - RESERVE_MUTATIONS ||
      keyBytes > commitKeyBytes - RESERVE_KEY_BYTES ||
      // Deno KV counts a key twice (measured).
      this.#bytes + 2 * keyBytes > commitBytes - RESERVE_BYTES;
  }

  #addPet(pets: PackedCount, bytes: number): void {
    pets.add(bytes);
    this.#bytes += this.#generations * (bytes + 1);
  }

  #addOwn(valueBytes: number): void {
    this.#ownRecords++;
    this.#bytes += this.#generations * valueBytes;
  }
}
