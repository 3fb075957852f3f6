import { isToken } from "./token.ts";
import { ServiceError } from "../service_error.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type ApiKey, issuedKey, revoke, stateOf } from "../log/api_keys.ts";
import type { Head } from "../log/head.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { keyByTokenKey, projectionKey } from "../keyspace.ts";
import { BoundedCache } from "../projections/bounded_cache.ts";
import { damagedError, decodeRecord, proveRecord } from "../projections/project.ts";
import { scan } from "../store/scan.ts";
import type { Key, Store, StoreEntry } from "../store/store.ts";

/** Maximum number of cached keys. */
const CACHE_LIMIT = 10_000;

const MALFORMED_TOKEN =
  "The API key is mistyped or cut off: a key is pets_ and 72 digits and letters from a to f";

interface CachedKey {
  key: ApiKey;
  /** When the key was read. While `generation` and `keyPosition` are the same, so is the key. */
  head: Head;
  /** When the expiry or the revocation of the key takes effect, whichever is first. */
  endsAt: number;
  /** The same as monotonic time. From then on, the cached key is refused, even if the wall clock was set back. */
  endsAtMonotonicMs: number;
}

/** Looks up API keys by token. Caches each key until the next event about any key. */
export class ApiKeyReader {
  #store: Store;
  #runtime: Runtime;
  #byToken = new BoundedCache<CachedKey>(CACHE_LIMIT);

  constructor(store: Store, runtime: Runtime) {
    this.#store = store;
    this.#runtime = runtime;
  }

  /** The token's key if it is cached, current at `head`, and live. Does not read the store. */
  cached(token: string, head: Head): ApiKey | undefined {
    const cached = this.#cachedAt(token, head);
    return cached && this.#isAlive(cached, this.#runtime.now()) ? cached.key : undefined;
  }

  /** The token's key as of that head. Throws or rejects with `invalid_credentials` if it has no live key. */
  authorize(token: string, head: Head, now: number): ApiKey | Promise<ApiKey> {
    const cached = this.#cachedAt(token, head);
    if (cached === undefined) {
      return this.#read(token, head).then((read) => this.#expectAlive(read, now));
    }
    return this.#expectAlive(cached, now);
  }

  #expectAlive(cached: CachedKey, now: number): ApiKey {
    if (this.#isAlive(cached, now)) return cached.key;
    const state = stateOf(cached.key, Math.max(cached.endsAt, now));
    throw new ServiceError("invalid_credentials", `The API key is ${state}`);
  }

  #cachedAt(token: string, { keyPosition, generation }: Head): CachedKey | undefined {
    const cached = this.#byToken.get(token);
    const at = cached?.head;
    return at?.keyPosition === keyPosition && at.generation === generation ? cached : undefined;
  }

  async #read(token: string, head: Head): Promise<CachedKey> {
    if (!isToken(token)) throw new ServiceError("invalid_credentials", MALFORMED_TOKEN);
    const key = await readProvenKey(this.#store, head, sha256Hex(token));
    // A faster read may have cached the key. Its end applies, because the clock may have been set back since.
    const cachedMeanwhile = this.#cachedAt(token, head);
    if (cachedMeanwhile !== undefined) return cachedMeanwhile;
    if (key === undefined) {
      throw new ServiceError("invalid_credentials", "The API key is not known");
    }
    const { isRevoked, expiresAt = Infinity, revokedAt = Infinity } = key;
    const endsAt = isRevoked ? -Infinity : Math.min(expiresAt, revokedAt);
    const endsAtMonotonicMs = this.#runtime.monotonicNow() + endsAt - this.#runtime.now();
    return this.#byToken.set(token, { key, head, endsAt, endsAtMonotonicMs });
  }

  #isAlive({ endsAt, endsAtMonotonicMs }: CachedKey, now: number): boolean {
    return now < endsAt && this.#runtime.monotonicNow() < endsAtMonotonicMs;
  }
}

/** All keys ever issued, in no particular order. */
export async function listApiKeys(store: Store, { generation }: Head): Promise<ApiKey[]> {
  return keysOf(await entriesBelow(store, projectionKey(generation, ["key_by_token"])));
}

/** The key with an id, proven by the log; `undefined` if none has it. */
export async function findApiKey(store: Store, head: Head, keyId: string) {
  const found = (await listApiKeys(store, head)).find(({ id }) => id === keyId);
  return found && await readProvenKey(store, head, found.tokenHash);
}

/** Reads the key with that token hash. Each of its records must follow from its event. */
async function readProvenKey(store: Store, { generation }: Head, tokenHash: string) {
  const entries = await entriesBelow(store, projectionKey(generation, keyByTokenKey(tokenHash)));
  await Promise.all(entries.map((entry) => proveRecord(store, entry)));
  return keysOf(entries).at(0);
}

async function entriesBelow(store: Store, prefix: Key): Promise<StoreEntry[]> {
  return (await Array.fromAsync(scan(store, { prefix }))).flat();
}

/** Builds keys from their records, which the store returns in order of token and position. */
function keysOf(entries: StoreEntry[]): ApiKey[] {
  const keys: ApiKey[] = [];
  for (const entry of entries) {
    const record = decodeRecord(entry);
    const tokenHash = entry.key[3] as string;
    if ("issuedAt" in record) {
      keys.push(issuedKey({ ...record, tokenHash }, record.issuedAt));
    } else {
      const key = keys.at(-1);
      if (key?.tokenHash !== tokenHash) throw damagedError(entry.key, "has no record of its issue");
      revoke(key, record);
    }
  }
  return keys;
}
