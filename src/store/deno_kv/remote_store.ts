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
 * An attempt to open the attached database cannot be given up, and the client repeats it for a quarter of an
 * hour. At most this many attempts are under way.
 */
const ATTEMPTS_LIMIT = 16;

/**
 * A store over KV Connect, or the database that the platform attaches. Every call fails until the
 * connection is first opened. It can be reopened at any time, because the network may drop a connection
 * silently.
 */
export class RemoteStore implements Store {
  readonly limits = KV_LIMITS;
  readonly connection: StoreConnection = { reopen: (signal) => this.#reopen(signal) };
  #address: string | undefined;
  #accept: (store: Store) => Promise<void>;
  #onRefused: (error: StoreRefusedError) => void;
  #kv: KvStore | undefined;
  /** Number of attempts to open the attached database that are under way. */
  #attempts = 0;

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
   * Opens a new connection and closes the old one, whose calls then reject, and may still take effect.
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
    const kv = await this.#open(signal);
    try {
      signal.throwIfAborted();
      if (this.#kv === undefined) await Promise.race([this.#accept(kv), rejectAtAbort(signal)]);
      return kv;
    } catch (error) {
      kv.close();
      throw error;
    }
  }

  async #open(signal: AbortSignal): Promise<KvStore> {
    if (this.#address === undefined) return await this.#openAttached();
    // Loaded only if it is used.
    const { KvConnectStore } = await import("./kv_connect_store.ts");
    return await KvConnectStore.open(this.#address, signal);
  }

  async #openAttached(): Promise<KvStore> {
    if (this.#attempts >= ATTEMPTS_LIMIT) throw new StoreAwayError("it does not answer");
    this.#attempts++;
    try {
      return new KvStore(await Deno.openKv());
    } catch (error) {
      // The client's errors have no type of their own.
      const { message } = error as Error;
      if (/failed to connect|status 5\d\d/.test(message)) throw new StoreAwayError(message);
      throw new StoreRefusedError(message);
    } finally {
      this.#attempts--;
    }
  }
}

function rejectAtAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function notReached(): Promise<never> {
  return Promise.reject(new StoreAwayError("The store was not reached yet"));
}
