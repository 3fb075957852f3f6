/** Sends requests to the endpoints of webhooks, which may be hostile. Each ends in time and reads little. */

import type { Runtime } from "eventstore-less";
import type { Socket } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { type Attempt, AttemptFailedError } from "./attempt.ts";
import type { CallableAddresses } from "./callable_addresses.ts";
import { connectToOne, secure } from "./checked_socket.ts";
import { post } from "./post.ts";
import { resolveByDns, type ResolveName } from "./resolve_name.ts";
import { addressesInUrl, faultOfWebhookUrl } from "./webhook_url.ts";

/** Maximum time of an attempt: for the name, the connection, the request and the response. */
export const ATTEMPT_LIMIT_MS = 15_000;

export interface WebhookRequest {
  url: string;
  /** With names in lower case. The sender adds `host` and `content-length`. */
  headers: Record<string, string>;
  body: string;
  /** Stops the attempt, which then rejects with the reason. */
  signal: AbortSignal;
}

export interface WebhookSenderDeps {
  runtime: Runtime;
  callable: CallableAddresses;
  /** By default, DNS. */
  resolveName?: ResolveName;
  /** Certificates in PEM that are trusted in place of those of the runtime. */
  authorities?: string;
}

export class WebhookSender {
  readonly #deps: WebhookSenderDeps;
  /** Made once, because it loads all authorities. */
  #secureContext: SecureContext | undefined;

  constructor(deps: WebhookSenderDeps) {
    this.#deps = deps;
  }

  /** Sends one request, on a connection of its own. Rejects only if the signal aborts before there is a response. */
  async send(request: WebhookRequest): Promise<Attempt> {
    const { runtime } = this.#deps;
    const stop = new AbortController();
    const abort = () => stop.abort(request.signal.reason);
    if (request.signal.aborted) abort();
    request.signal.addEventListener("abort", abort, { once: true });
    const stopLate = () => stop.abort(new AttemptFailedError("timed_out"));
    const cancelTimer = runtime.setTimer(ATTEMPT_LIMIT_MS, stopLate);
    const time = new Date(runtime.now()).toISOString();
    const begin = runtime.monotonicNow();
    try {
      const outcome = await this.#outcomeOf(request, stop.signal);
      return { time, durationMs: Math.round(runtime.monotonicNow() - begin), ...outcome };
    } finally {
      cancelTimer();
      request.signal.removeEventListener("abort", abort);
      // Destroys the connection.
      stop.abort();
    }
  }

  /** The response, or why there is none. */
  async #outcomeOf(
    request: WebhookRequest,
    signal: AbortSignal,
  ): Promise<Pick<Attempt, "status" | "error">> {
    try {
      signal.throwIfAborted();
      return await this.#exchange(request, signal);
    } catch (error) {
      const reason = signal.aborted ? signal.reason : error;
      if (reason instanceof AttemptFailedError) return { error: reason.code };
      throw reason;
    }
  }

  async #exchange({ url: text, headers, body }: WebhookRequest, signal: AbortSignal) {
    const { runtime, callable } = this.#deps;
    if (faultOfWebhookUrl(text, callable) !== undefined) {
      throw new AttemptFailedError("url_refused");
    }
    const url = new URL(text);
    const isTls = url.protocol === "https:";
    const isCallable = (address: string) => callable.has(address);
    const addresses = (await this.#addressesOf(url, signal)).filter(isCallable);
    if (addresses.length === 0) throw new AttemptFailedError("address_refused");
    const port = Number(url.port || (isTls ? 443 : 80));
    const socket = await connectToOne(addresses, port, { runtime, isCallable, signal });
    const stream = isTls ? await this.#secure(socket, url, signal) : socket;
    return await post(stream, url, { headers, body, now: () => runtime.now() });
  }

  #secure(socket: Socket, { hostname }: URL, signal: AbortSignal): Promise<Socket> {
    this.#secureContext ??= createSecureContext({ ca: this.#deps.authorities });
    return secure(socket, hostname, { secureContext: this.#secureContext, signal });
  }

  async #addressesOf(url: URL, signal: AbortSignal): Promise<string[]> {
    const known = addressesInUrl(url);
    if (known !== undefined) return known;
    const { resolveName = resolveByDns } = this.#deps;
    const name = url.hostname.replace(/\.$/, "");
    const addresses = await resolveName(name, signal).catch(() => []);
    if (addresses.length === 0) throw new AttemptFailedError("name_not_resolved");
    return addresses;
  }
}
