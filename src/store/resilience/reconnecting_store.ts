import { type Store, STORE_LIMITS } from "../store.ts";
import { StoreAwayError, StoreRefusedError } from "../store_errors.ts";

export interface ReconnectingStoreDeps {
  /**
   * Connects to the store. After the signal aborts, it has no request in flight. Rejects with
   * `StoreRefusedError` if waiting does not help.
   */
  connect: (signal: AbortSignal) => Promise<Store>;
  /** Decides on the first connection whether the store may be used. */
  accept: (store: Store) => Promise<void>;
  /** Called if the first connection is refused, so that waiting does not help. */
  onRefused?: (error: StoreRefusedError) => void;
}

/** A store behind a network connection, which can be replaced. Calls fail while the connection is missing. */
export class ReconnectingStore implements Store {
  readonly limits = STORE_LIMITS;
  #deps: ReconnectingStoreDeps;
  #store: Store | undefined;
  /** Whether the store was accepted once. */
  #isAccepted = false;
  #isClosed = false;

  constructor(deps: ReconnectingStoreDeps) {
    this.#deps = deps;
  }

  get: Store["get"] = (key) => this.#store?.get(key) ?? notReached();

  getMany: Store["getMany"] = (keys) => this.#store?.getMany(keys) ?? notReached();

  list: Store["list"] = (range, options) => this.#store?.list(range, options) ?? notReached();

  commit: Store["commit"] = (commit) => this.#store?.commit(commit) ?? notReached();

  close(): void {
    this.#isClosed = true;
    this.#store?.close();
    this.#store = undefined;
  }

  /**
   * Opens a new connection and closes the old one, whose calls then reject, and may still take effect. If this
   * fails, it closes the old one all the same, because the server may allow no more connections next to it.
   * Rejects with {@linkcode StoreRefusedError} if the store answers but cannot be used.
   */
  async reopen(signal: AbortSignal): Promise<void> {
    const old = this.#store;
    try {
      const store = await this.#connect(signal);
      this.#store?.close();
      this.#store = store;
      this.#isAccepted = true;
    } catch (error) {
      // An attempt that was given up may fail after a later one succeeded.
      if (old !== undefined && this.#store === old) {
        this.#store = undefined;
        old.close();
      }
      if (error instanceof StoreRefusedError && !this.#isAccepted) this.#deps.onRefused?.(error);
      throw error;
    }
  }

  async #connect(signal: AbortSignal): Promise<Store> {
    const store = await this.#deps.connect(signal);
    try {
      signal.throwIfAborted();
      if (!this.#isAccepted) {
        const { promise: aborted, reject } = Promise.withResolvers<never>();
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        await Promise.race([this.#deps.accept(store), aborted]);
      }
      if (this.#isClosed) throw new StoreAwayError("The store is closed");
      return store;
    } catch (error) {
      store.close();
      throw error;
    }
  }
}

function notReached(): Promise<never> {
  return Promise.reject(new StoreAwayError("The store is not connected"));
}
