import { type ApiKey, isToken, stateOf } from "../api_key.ts";
import { Failure } from "../failure.ts";
import type { Head } from "../log/head.ts";
import { sha256Hex } from "../sha256.ts";
import { keyByTokenKey, projectionKey } from "../store/layout.ts";
import { scan } from "../store/scan.ts";
import { LIST_LIMIT, type Store, type StoreEntry } from "../store/store.ts";

/** How many keys are remembered. */
const CACHE_LIMIT = 10_000;

interface Remembered {
  key: ApiKey;
  /** What the head said when the key was read: while it says so still, the key is as it was. */
  generation: number;
  keyPosition: number;
}

/** Looks API keys up by their token. A key read once comes from memory until an event concerns keys. */
export class KeyReader {
  #store: Store;
  #byToken = new Map<string, Remembered>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Whether the token was a key's when last looked at: enough to go on, not enough to answer. With a
   * head, whether authorize() can do without the store on that.
   */
  remembers(token: string, head?: Head): boolean {
    const remembered = this.#byToken.get(token);
    return remembered !== undefined && (head === undefined || isAsOf(head, remembered));
  }

  /** The token's key as it was when last looked at. */
  remembered(token: string): ApiKey | undefined {
    return this.#byToken.get(token)?.key;
  }

  /** The live key of the token as of that head. Throws or rejects with `invalid_credentials`. */
  authorize(token: string, head: Head, now: number): ApiKey | Promise<ApiKey> {
    const remembered = this.#byToken.get(token);
    if (remembered !== undefined && isAsOf(head, remembered)) return alive(remembered.key, now);
    return this.#read(token, head, now);
  }

  async #read(token: string, head: Head, now: number): Promise<ApiKey> {
    const key = isToken(token) ? await this.#keyOf(sha256Hex(token), head) : undefined;
    if (key === undefined) {
      this.#byToken.delete(token);
      throw new Failure("invalid_credentials", "The API key is not known");
    }
    if (this.#byToken.size >= CACHE_LIMIT) this.#byToken.delete(this.#byToken.keys().next().value!);
    const { generation, keyPosition } = head;
    this.#byToken.set(token, { key, generation, keyPosition });
    return alive(key, now);
  }

  async #keyOf(tokenHash: string, { generation }: Head): Promise<ApiKey | undefined> {
    const prefix = projectionKey(generation, keyByTokenKey(tokenHash));
    return keysOf(await this.#store.list({ prefix }, { limit: LIST_LIMIT })).at(0);
  }
}

/** All keys that were ever issued, in no order that matters. */
export async function listKeys(store: Store, { generation }: Head): Promise<ApiKey[]> {
  const prefix = projectionKey(generation, ["key_by_token"]);
  const batches = await Array.fromAsync(scan(store, { prefix }));
  return keysOf(batches.flat());
}

/** Puts the records of keys together, as they come from the store in order of token and position. */
function keysOf(entries: StoreEntry[]): ApiKey[] {
  const keys: ApiKey[] = [];
  for (const { key: path, value } of entries) {
    const record = JSON.parse(value as string);
    const tokenHash = path[3] as string;
    if ("issuedAt" in record) {
      keys.push({
        id: record.keyId,
        label: record.label,
        tokenHash,
        issuedAt: Date.parse(record.issuedAt),
        ...(record.expiresAt === undefined ? {} : { expiresAt: Date.parse(record.expiresAt) }),
      });
    } else {
      const key = keys.at(-1);
      if (key?.tokenHash !== tokenHash) {
        throw new Failure(
          "projection_damaged",
          `API key ${record.keyId} has no record of its issue`,
        );
      }
      key.revokedAt = Math.min(key.revokedAt ?? Infinity, Date.parse(record.revokedAt));
      if (record.isAtOnce) key.isRevoked = true;
    }
  }
  return keys;
}

function isAsOf(head: Head, { keyPosition, generation }: Remembered): boolean {
  return keyPosition === head.keyPosition && generation === head.generation;
}

function alive(key: ApiKey, now: number): ApiKey {
  const state = stateOf(key, now);
  if (state === "live") return key;
  throw new Failure("invalid_credentials", `The API key is ${state}`);
}
