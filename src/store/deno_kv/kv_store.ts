import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  Store,
  StoreEntry,
  StoreLimits,
} from "../store.ts";
import { NotAppliedError, StoreRefusedError, UnclearOutcomeError } from "../store_errors.ts";

/** Limits of Deno KV, documented (https://docs.deno.com/deploy/kv/transactions/#limits) and measured. */
export const KV_LIMITS: StoreLimits = {
  listEntries: 1_000,
  commitMutations: 1_000,
  commitBytes: 819_200,
  commitKeyBytes: 81_920,
};

/** A store on a real Deno KV: in memory, in a SQLite file, or over the network by KV Connect. */
export class KvStore implements Store {
  readonly limits = KV_LIMITS;
  #kv: Deno.Kv;

  constructor(kv: Deno.Kv) {
    this.#kv = kv;
  }

  async get(key: Key): Promise<StoreEntry | null> {
    const entry = await this.#kv.get(key).catch(throwTyped);
    return entry.versionstamp === null ? null : entry as StoreEntry;
  }

  async list(range: KeyRange, { limit, reverse = false }: ListOptions): Promise<StoreEntry[]> {
    const selector = range as Deno.KvListSelector;
    // KV reads each batch from one snapshot, so one batch must hold the whole result.
    const entries = this.#kv.list(selector, { limit, reverse, batchSize: limit });
    return await Array.fromAsync(entries).catch(throwTyped) as StoreEntry[];
  }

  async commit({ checks, mutations }: Commit): Promise<string | null> {
    const atomic = this.#kv.atomic().check(...checks as Deno.AtomicCheck[]);
    for (const mutation of mutations) {
      if (mutation.type === "delete") atomic.delete(mutation.key);
      else atomic.set(mutation.key, mutation.value, { expireIn: mutation.expireIn });
    }
    const result = await atomic.commit().catch(throwTyped);
    return result.ok ? result.versionstamp : null;
  }

  close(): void {
    this.#kv.close();
  }
}

/** The messages of the errors with which Deno KV refuses a call before it starts. */
const REFUSALS =
  /^(Key|Value|Total mutation size|Total key size) too large |^Too many (mutations|checks|entries) |^(key cannot be empty$|Invalid check$|Start key |End key |expireIn must be )/;

/** Deno KV's errors have no type of their own, so their messages decide. */
function throwTyped(error: unknown): never {
  const { message } = error as Error;
  if (message.includes("database is locked")) {
    throw new NotAppliedError("Another process keeps the store's file locked");
  }
  if (REFUSALS.test(message)) throw new StoreRefusedError(message);
  throw new UnclearOutcomeError(message);
}
