import type { Store } from "../store.ts";
import { StoreAwayError, StoreRefusedError } from "../store_errors.ts";
import { KvStore } from "./kv_store.ts";

/**
 * An attempt to open the attached database cannot be given up, and the client repeats it for a quarter of an
 * hour. At most this many attempts are under way.
 */
const ATTEMPTS_LIMIT = 16;

/** Connects to a KV Connect server or, without an address, to the database that the platform attaches. */
export class KvConnector {
  #address: string | undefined;
  /** Number of attempts to open the attached database that are under way. */
  #attempts = 0;

  constructor(address: string | undefined) {
    this.#address = address;
  }

  /** Rejects with {@linkcode StoreRefusedError} if the store answers but cannot be used. */
  async connect(signal: AbortSignal): Promise<Store> {
    if (this.#address === undefined) return await this.#openAttached();
    // Loaded only if it is used.
    const { KvConnectStore } = await import("./kv_connect_store.ts");
    return await KvConnectStore.open(this.#address, signal);
  }

  async #openAttached(): Promise<Store> {
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
