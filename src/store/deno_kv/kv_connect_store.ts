/**
 * A store over KV Connect (https://github.com/denoland/denokv, proto/kv-connect.md). Its client is a package from
 * npm. Unlike `Deno.openKv()`, it sends a commit of more than a kilobyte without waiting for an
 * acknowledgement (40 ms), and its calls can be given up.
 */

import { openKv } from "@deno/kv";
import {
  NotAppliedError,
  StoreAwayError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../store_errors.ts";
import { KvStore } from "./kv_store.ts";

export class KvConnectStore extends KvStore {
  #calls: AbortController;

  /** The signal of `calls` ends all calls of the client. */
  private constructor(kv: Deno.Kv, calls: AbortController) {
    super(kv);
    this.#calls = calls;
  }

  /**
   * Connects to a server, with the token in `DENO_KV_ACCESS_TOKEN`. Gives up when the signal aborts. Rejects with
   * {@linkcode StoreAwayError} or {@linkcode StoreRefusedError}.
   */
  static async open(address: string, signal: AbortSignal): Promise<KvConnectStore> {
    const calls = new AbortController();
    const giveUp = () => calls.abort();
    signal.addEventListener("abort", giveUp);
    try {
      const kv = await openKv(address, {
        // Otherwise the package returns Deno.openKv().
        implementation: "remote",
        fetcher: fetcherOf(calls.signal),
        maxRetries: 0,
      });
      return new KvConnectStore(kv as unknown as Deno.Kv, calls);
    } catch (error) {
      if (error instanceof StoreAwayError || error instanceof StoreRefusedError) throw error;
      // The client's message may contain a whole page.
      throw new StoreRefusedError("it is not a KV Connect server");
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** Calls in flight reject. */
  override close(): void {
    super.close();
    this.#calls.abort();
  }
}

type Fetcher = typeof fetch;

/** Makes the requests of the client, so that each failure gets its type where it is known what was sent. */
function fetcherOf(signal: AbortSignal): Fetcher {
  // With connections of its own, because the network may have dropped older ones silently.
  const client = Deno.createHttpClient({});
  signal.addEventListener("abort", () => client.close());
  return async (url, init) => {
    const path = new URL(String(url)).pathname;
    const isCall = path.endsWith("/atomic_write") || path.endsWith("/snapshot_read");
    let response: Response;
    try {
      response = await fetch(url, { ...init, client, signal });
    } catch (error) {
      throw fetchError(error, isCall);
    }
    if (response.status !== 200) throw await statusError(response, isCall);
    return response;
  };
}

function fetchError(error: unknown, isCall: boolean): Error {
  const { cause, message } = error as Error;
  const isAborted = error instanceof DOMException;
  // Deno names no cause if it does not send a request at all, for example to a port that is blocked.
  if (!isAborted && cause === undefined) return new StoreRefusedError(message);
  const reason = `it does not answer: ${isAborted ? "given up" : (cause as Error).message}`;
  const isConnected = !/client error \(Connect\)/.test(reason);
  return isCall && isConnected ? new UnclearOutcomeError(reason) : new StoreAwayError(reason);
}

/** An error for an answer that is not a success. Its text is on one line. */
async function statusError(response: Response, isCall: boolean): Promise<Error> {
  const { status } = response;
  const text = (await response.text().catch(() => "")).split("\n")[0].slice(0, 200);
  const message = `it answers with status ${status}${text === "" ? "" : `: ${text}`}`;
  if (status === 401 || status === 403) {
    // The token of a call comes from the answer to the first request, and expires.
    return isCall
      ? new StoreAwayError(message)
      : new StoreRefusedError("it refuses the access token (DENO_KV_ACCESS_TOKEN)");
  }
  if (status === 429) return new NotAppliedError(message);
  if (status < 500) return new StoreRefusedError(message);
  return isCall ? new UnclearOutcomeError(message) : new StoreAwayError(message);
}
