import { KvStore } from "./kv_store.ts";
import type { Commit, ListOptions, Store, StoreEntry } from "./store.ts";

/**
 * The store behind KV Connect, or the database that the platform attaches. It is reached by
 * {@linkcode reconnect}, which may come again at any time: a connection that a network swallowed would
 * not be given up by the client for a quarter of an hour. Until it is reached, every call fails.
 */
export class RemoteStore implements Store {
  #address: string | undefined;
  #expectOurs: (store: Store) => Promise<void>;
  #onRefused: (error: StoreRefusedError) => void;
  #connection: KvStore | undefined;

  /**
   * `expectOurs` is asked when the store is reached for the first time; `onRefused` is told where it
   * is not reached, and never will be. Without an address: the database that the platform attaches.
   */
  constructor(
    address: string | undefined,
    expectOurs: (store: Store) => Promise<void>,
    onRefused: (error: StoreRefusedError) => void = () => {},
  ) {
    this.#address = address;
    this.#expectOurs = expectOurs;
    this.#onRefused = onRefused;
  }

  get(key: Deno.KvKey): Promise<StoreEntry | null> {
    return this.#connection?.get(key) ?? notReached();
  }

  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]> {
    return this.#connection?.list(range, options) ?? notReached();
  }

  commit(commit: Commit): Promise<string | null> {
    return this.#connection?.commit(commit) ?? notReached();
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  /**
   * Connects anew. What hangs on the old connection goes on hanging, and may yet be done. Rejects with
   * {@linkcode StoreRefusedError} where the store answers, but not to us.
   */
  async reconnect(signal: AbortSignal): Promise<void> {
    try {
      const connection = await this.#connect(signal);
      this.#connection?.close();
      this.#connection = connection;
    } catch (error) {
      const isRefused = error instanceof StoreRefusedError;
      if (isRefused && this.#connection === undefined) this.#onRefused(error);
      throw error;
    }
  }

  async #connect(signal: AbortSignal): Promise<KvStore> {
    // A request of the client cannot be taken back. So it is made when one that can be was answered.
    if (this.#address !== undefined) await expectAnswer(this.#address, signal);
    const connection = new KvStore(await openKv(this.#address));
    try {
      if (this.#connection === undefined) await this.#expectOurs(connection);
      signal.throwIfAborted();
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}

/** The store answers, and waiting does not help. */
export class StoreRefusedError extends Error {
  override name = "StoreRefusedError";
}

/** Without a token: that the store refuses the request is an answer as well. */
async function expectAnswer(address: string, signal: AbortSignal): Promise<void> {
  let response: Response;
  try {
    // Of a connection that was kept, nobody knows whether a network has swallowed it.
    const headers = { connection: "close" };
    response = await fetch(address, { method: "POST", headers, signal });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new Error(`it does not answer: ${cause instanceof Error ? cause.message : message}`);
  }
  await response.body?.cancel();
  if (response.status >= 500) throw new Error(`it answers with status ${response.status}`);
}

async function openKv(address: string | undefined): Promise<Deno.Kv> {
  try {
    return await Deno.openKv(address);
  } catch (error) {
    const { message } = error as Error;
    if (/failed to connect|status 5\d\d/.test(message)) throw error;
    const isUnauthorized = /status 40[13]/.test(message);
    throw new StoreRefusedError(
      isUnauthorized ? "it refuses the access token (DENO_KV_ACCESS_TOKEN)" : message,
    );
  }
}

function notReached(): Promise<never> {
  return Promise.reject(new Error("The store was not reached yet"));
}
