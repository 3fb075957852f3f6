import { KV_LIMITS, KvStore } from "./kv_store.ts";
import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  Store,
  StoreConnection,
  StoreEntry,
} from "../store.ts";
import { StoreAwayError, StoreRefusedError } from "../store_errors.ts";

/** Whether the store at a path is reached over a network. Without a path, the platform attaches it. */
export function isRemote(path: string | undefined): boolean {
  return path === undefined || /^https?:/i.test(path);
}

/**
 * A store over KV Connect, or the database that the platform attaches. Every call fails until the
 * connection is first opened. It can be reopened at any time, because the client takes a quarter of an
 * hour to give up a connection that the network has dropped silently.
 */
export class RemoteStore implements Store {
  readonly limits = KV_LIMITS;
  readonly connection: StoreConnection = { reopen: (signal) => this.#reopen(signal) };
  #address: string | undefined;
  #accept: (store: Store) => Promise<void>;
  #onRefused: (error: StoreRefusedError) => void;
  #kv: KvStore | undefined;

  /**
   * `accept` checks the store on the first connection. `onRefused` is called if the first connection
   * is refused, so that waiting does not help. Without an address: the database that the platform attaches.
   */
  constructor(
    address: string | undefined,
    accept: (store: Store) => Promise<void>,
    onRefused: (error: StoreRefusedError) => void = () => {},
  ) {
    this.#address = address;
    this.#accept = accept;
    this.#onRefused = onRefused;
  }

  get(key: Key): Promise<StoreEntry | null> {
    return this.#kv?.get(key) ?? notReached();
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    return this.#kv?.list(range, options) ?? notReached();
  }

  commit(commit: Commit): Promise<string | null> {
    return this.#kv?.commit(commit) ?? notReached();
  }

  close(): void {
    this.#kv?.close();
    this.#kv = undefined;
  }

  /**
   * Opens a new connection. Calls that hang on the old one keep hanging, and may still take effect.
   * Rejects with {@linkcode StoreRefusedError} if the store answers but cannot be used.
   */
  async #reopen(signal: AbortSignal): Promise<void> {
    try {
      const kv = await this.#connect(signal);
      this.#kv?.close();
      this.#kv = kv;
    } catch (error) {
      const isRefused = error instanceof StoreRefusedError;
      if (isRefused && this.#kv === undefined) this.#onRefused(error);
      throw error;
    }
  }

  async #connect(signal: AbortSignal): Promise<KvStore> {
    // A request of the KV client cannot be cancelled. So first send one that can, and wait for its answer.
    if (this.#address !== undefined) await expectAnswer(this.#address, signal);
    const kv = new KvStore(await openKv(this.#address));
    try {
      if (this.#kv === undefined) await this.#accept(kv);
      signal.throwIfAborted();
      return kv;
    } catch (error) {
      kv.close();
      throw error;
    }
  }
}

/** Sends a request without a token. A refusal counts as an answer, too; a status of 500 or above does not. */
async function expectAnswer(address: string, signal: AbortSignal): Promise<void> {
  let response: Response;
  try {
    // The network may have silently dropped a kept-alive connection.
    const headers = { connection: "close" };
    response = await fetch(address, { method: "POST", headers, signal });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new StoreAwayError(
      `it does not answer: ${cause instanceof Error ? cause.message : message}`,
    );
  }
  await response.body?.cancel();
  if (response.status >= 500) throw new StoreAwayError(`it answers with status ${response.status}`);
}

/** Rejects with {@linkcode StoreRefusedError}, or with {@linkcode StoreAwayError}. */
async function openKv(address: string | undefined): Promise<Deno.Kv> {
  try {
    return await Deno.openKv(address);
  } catch (error) {
    // The client's errors have no type of their own.
    const { message } = error as Error;
    if (/failed to connect|status 5\d\d/.test(message)) throw new StoreAwayError(message);
    const isUnauthorized = /status 40[13]/.test(message);
    throw new StoreRefusedError(
      isUnauthorized ? "it refuses the access token (DENO_KV_ACCESS_TOKEN)" : message,
    );
  }
}

function notReached(): Promise<never> {
  return Promise.reject(new StoreAwayError("The store was not reached yet"));
}
