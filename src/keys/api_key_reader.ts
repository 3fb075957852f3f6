import { type Head, type Runtime, ServiceError } from "eventstore-less";
import {
  BoundedCache,
  damagedError,
  decodeRecord,
  kindPrefix,
  projectionKey,
  proveRecord,
  sha256Hex,
} from "eventstore-less/parts";
import { type Key, type Store, StoreDamagedError, type StoreEntry } from "eventstore-less/store";
import { APPLICATION } from "../application.ts";
import { apiKeyPositionOf } from "./api_key_position.ts";
import { issuedRecordKey, stateRecordKey } from "./record_keys.ts";
import { isToken } from "./token.ts";
import { type ApiKey, issuedApiKey, revoke, stateOf } from "./api_key.ts";

/** Maximum number of cached keys. */
const CACHE_LIMIT = 10_000;

const MALFORMED_TOKEN =
  "The API key is mistyped or cut off: a key is pets_ and 72 digits and letters from a to f";

interface CachedApiKey {
  apiKey: ApiKey;
  /** Of the head as of which the key was read. While a head has the same values, the key is the same, too. */
  generation: number;
  apiKeyPosition: number;
  /** When the expiry or the revocation of the key takes effect, whichever is first. */
  endsAt: number;
  /** The same as monotonic time. From then on, the cached key is refused, even if the wall clock was set back. */
  endsAtMonotonicMs: number;
}

/** The labels of API keys by their ids. */
export type ApiKeyLabels = ReadonlyMap<string, string>;

interface CachedLabels extends Pick<CachedApiKey, "generation" | "apiKeyPosition"> {
  labels: ApiKeyLabels;
}

/** Looks up API keys by token. Caches each key until the next event about any key. */
export class ApiKeyReader {
  #store: Store;
  #runtime: Runtime;
  #byToken = new BoundedCache<CachedApiKey>(CACHE_LIMIT);
  #labels: CachedLabels | undefined;

  constructor(store: Store, runtime: Runtime) {
    this.#store = store;
    this.#runtime = runtime;
  }

  /** The token's key if it is cached, current at `head`, and live. Does not read the store. */
  cached(token: string, head: Head): ApiKey | undefined {
    const cached = this.#cachedAt(token, head);
    return cached && this.#isAlive(cached, this.#runtime.now()) ? cached.apiKey : undefined;
  }

  /** The token's key as of that head. Throws or rejects with `invalid_credentials` if it has no live key. */
  authorize(token: string, head: Head, now: number): ApiKey | Promise<ApiKey> {
    const cached = this.#cachedAt(token, head);
    if (cached === undefined) {
      return this.#read(token, head).then((read) => this.#expectAlive(read, now));
    }
    return this.#expectAlive(cached, now);
  }

  /**
   * The labels of all keys as of that head, by their ids; `undefined` for a key that may only read, because it must not
   * learn who uses the service. A rotation issues another key, so the label of an event never changes.
   */
  async labelsFor({ isReadOnly }: ApiKey, head: Head): Promise<ApiKeyLabels | undefined> {
    if (isReadOnly) return undefined;
    const { generation } = head;
    const apiKeyPosition = apiKeyPositionOf(head);
    const known = this.#labels;
    const isCurrent = known?.generation === generation && known.apiKeyPosition === apiKeyPosition;
    if (isCurrent) return known.labels;
    const apiKeys = await listApiKeys(this.#store, head);
    const labels = new Map(apiKeys.map(({ id, label }) => [id, label]));
    this.#labels = { generation, apiKeyPosition, labels };
    return labels;
  }

  #expectAlive(cached: CachedApiKey, now: number): ApiKey {
    if (this.#isAlive(cached, now)) return cached.apiKey;
    const state = stateOf(cached.apiKey, Math.max(cached.endsAt, now));
    throw new ServiceError("invalid_credentials", `The API key is ${state}`);
  }

  #cachedAt(token: string, head: Head): CachedApiKey | undefined {
    const cached = this.#byToken.get(token);
    const isCurrent = cached?.generation === head.generation &&
      cached.apiKeyPosition === apiKeyPositionOf(head);
    return isCurrent ? cached : undefined;
  }

  async #read(token: string, head: Head): Promise<CachedApiKey> {
    if (!isToken(token)) throw new ServiceError("invalid_credentials", MALFORMED_TOKEN);
    const apiKey = await readProvenApiKey(this.#store, head, sha256Hex(token));
    // A faster read may have cached the key. Its end applies, because the clock may have been set back since.
    const cachedMeanwhile = this.#cachedAt(token, head);
    if (cachedMeanwhile !== undefined) return cachedMeanwhile;
    if (apiKey === undefined) {
      throw new ServiceError("invalid_credentials", "The API key is not known");
    }
    const { isRevoked, expiresAt = Infinity, revokedAt = Infinity } = apiKey;
    const endsAt = isRevoked ? -Infinity : Math.min(expiresAt, revokedAt);
    const endsAtMonotonicMs = this.#runtime.monotonicNow() + endsAt - this.#runtime.now();
    const { generation } = head;
    const apiKeyPosition = apiKeyPositionOf(head);
    return this.#byToken.set(token, {
      apiKey,
      generation,
      apiKeyPosition,
      endsAt,
      endsAtMonotonicMs,
    });
  }

  #isAlive({ endsAt, endsAtMonotonicMs }: CachedApiKey, now: number): boolean {
    return now < endsAt && this.#runtime.monotonicNow() < endsAtMonotonicMs;
  }
}

/** Throws `read_only_key` if the key must not write. */
export function expectMayWrite({ isReadOnly }: ApiKey): void {
  const message = "The API key may only read: use a key that may write";
  if (isReadOnly) throw new ServiceError("read_only_key", message);
}

/** The kinds of the two records of a key. */
const KINDS = ["issued_key", "key_state"];

/**
 * All keys ever issued, in the order of their token hashes. Rejects with `projection_damaged`. Both records of a key are
 * read at one moment, because it may be issued meanwhile.
 */
export async function listApiKeys(store: Store, { generation }: Head): Promise<ApiKey[]> {
  const apiKeys: ApiKey[] = [];
  const limit = store.limits.listEntries;
  const prefixes = KINDS.map((kind) => kindPrefix(generation, kind));
  let end: string | undefined;
  do {
    const after: Key = end === undefined ? [] : [end, new Uint8Array()];
    const ranges = prefixes.map((prefix) => ({ prefix, start: [...prefix, ...after] }));
    const { lists } = await store.snapshot([], ranges, { limit });
    const next = endOfPage(lists, limit);
    // As in scan(), a page of a damaged tree can lead to an earlier one.
    if (end !== undefined && next !== undefined && next <= end) {
      throw new StoreDamagedError("The keys of its records are not in order");
    }
    apiKeys.push(...apiKeysOf(generation, lists, next));
    end = next;
  } while (end !== undefined);
  return apiKeys;
}

/** The last token hash up to which both lists are complete; `undefined` if both end here. */
function endOfPage(lists: readonly StoreEntry[][], limit: number): string | undefined {
  const cut = lists.filter(({ length }) => length === limit);
  return cut.map((entries) => tokenHashOf(entries.at(-1)!)).sort()[0];
}

/** The keys of both kinds of records, up to the one with the token hash `end`. */
function apiKeysOf(generation: number, lists: StoreEntry[][], end?: string): ApiKey[] {
  const [issued, states] = lists.map((entries) => {
    const named = entries.map((entry): [string, StoreEntry] => [tokenHashOf(entry), entry]);
    return new Map(named.filter(([tokenHash]) => end === undefined || tokenHash <= end));
  });
  const tokenHashes = new Set([...issued.keys(), ...states.keys()]);
  return Array.from(tokenHashes, (tokenHash) => {
    return apiKeyOf(generation, issued.get(tokenHash) ?? null, states.get(tokenHash) ?? null);
  });
}

/** The key with an id, proven by the log; `undefined` if none has it. */
export async function findApiKey(store: Store, head: Head, keyId: string) {
  const found = (await listApiKeys(store, head)).find(({ id }) => id === keyId);
  return found && await readProvenApiKey(store, head, found.tokenHash);
}

/** Reads the key with that token hash. Both of its records must be there, and follow from their events. */
async function readProvenApiKey(store: Store, { generation }: Head, tokenHash: string) {
  const recordKeys = [issuedRecordKey(tokenHash), stateRecordKey(tokenHash)]
    .map((key) => projectionKey(generation, key));
  const { entries: [issued, state] } = await store.snapshot(recordKeys, [], { limit: 0 });
  if (issued === null && state === null) return undefined;
  const apiKey = apiKeyOf(generation, issued, state);
  await Promise.all([issued!, state!].map((entry) => {
    return proveRecord(APPLICATION, store, entry, decodeRecord(APPLICATION, entry).position);
  }));
  return apiKey;
}

function tokenHashOf({ key }: StoreEntry): string {
  return key.at(-1) as string;
}

/** Makes a key from its two records. Throws `projection_damaged` if one of them is missing. */
function apiKeyOf(generation: number, issued: StoreEntry | null, state: StoreEntry | null): ApiKey {
  if (issued === null) throw missingIssueError(generation, tokenHashOf(state!));
  const tokenHash = tokenHashOf(issued);
  if (state === null) {
    throw damagedError(
      APPLICATION,
      projectionKey(generation, stateRecordKey(tokenHash)),
      "is missing",
    );
  }
  const { issuedAt, ...terms } = decodeRecord(APPLICATION, issued);
  const { position, ...revocation } = decodeRecord(APPLICATION, state);
  const apiKey = issuedApiKey({ ...terms, tokenHash }, issuedAt, position);
  if (revocation.revokedAt !== undefined) revoke(apiKey, revocation);
  return apiKey;
}

function missingIssueError(generation: number, tokenHash: string): ServiceError {
  return damagedError(
    APPLICATION,
    projectionKey(generation, issuedRecordKey(tokenHash)),
    "is missing",
  );
}
