import { type Store, STORE_LIMITS } from "../store.ts";
import { StoreAwayError, StoreRefusedError } from "../store_errors.ts";

/** After the signal aborts, no request is in flight. Rejects with `StoreRefusedError` if waiting does not help. */
export type Connect = (signal: AbortSignal) => Promise<Store>;

/**
 * A store behind a network connection, without which calls fail. `reopen()` opens a new connection and closes the old
 * one, whose calls then reject, and may still take effect. If this fails, it closes the old one all the same, because the
 * server may allow no more connections next to it. On the first connection, `accept` decides whether the store may be
 * used. If that connection is refused, so that waiting does not help, `onRefused` is called.
 */
export function reconnectingStore(
  connect: Connect,
  accept: (store: Store) => Promise<void>,
  onRefused: (error: StoreRefusedError) => void,
): Required<Store> {
  let connected: Store | undefined;
  let isAccepted = false;
  let isClosed = false;
  const withConnection = <T>(call: (store: Store) => Promise<T>): Promise<T> =>
    connected === undefined
      ? Promise.reject(new StoreAwayError("The store is not connected"))
      : call(connected);
  const connectAccepted = async (signal: AbortSignal): Promise<Store> => {
    const store = await connect(signal);
    try {
      signal.throwIfAborted();
      if (!isAccepted) {
        const { promise: aborted, reject } = Promise.withResolvers<never>();
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        await Promise.race([accept(store), aborted]);
      }
      if (isClosed) throw new StoreAwayError("The store is closed");
      return store;
    } catch (error) {
      store.close();
      throw error;
    }
  };
  return {
    limits: STORE_LIMITS,
    get: (key) => withConnection((store) => store.get(key)),
    list: (range, options) => withConnection((store) => store.list(range, options)),
    snapshot: (keys, ranges, options) =>
      withConnection((store) => store.snapshot(keys, ranges, options)),
    commit: (commit) => withConnection((store) => store.commit(commit)),
    close() {
      isClosed = true;
      connected?.close();
      connected = undefined;
    },
    async reopen(signal) {
      const old = connected;
      try {
        const store = await connectAccepted(signal);
        connected?.close();
        connected = store;
        isAccepted = true;
      } catch (error) {
        // An attempt that was given up may fail after a later one succeeded.
        if (old !== undefined && connected === old) {
          connected = undefined;
          old.close();
        }
        if (error instanceof StoreRefusedError && !isAccepted) onRefused(error);
        throw error;
      }
    },
  };
}
