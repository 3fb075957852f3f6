import type { Store } from "../store.ts";
import { StoreAwayError, StoreRefusedError } from "../store_errors.ts";
import { KvStore } from "./kv_store.ts";

/**
 * Connects to a KV Connect server or, without an address, to the database that the platform attaches. Rejects with
 * {@linkcode StoreRefusedError} if waiting does not help. The client takes a quarter of an hour to give up a
 * connection that the network has dropped silently.
 */
export async function connectToKv(
  address: string | undefined,
  signal: AbortSignal,
): Promise<Store> {
  // A request of the KV client cannot be cancelled. So first send one that can, and wait for its answer.
  if (address !== undefined) await expectAnswer(address, signal);
  return new KvStore(await openKv(address));
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
