import { parseExactJson } from "eventstore-less/int64";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import type { RequestHandler } from "../../src/runtime/service_request.ts";
import type { Logger } from "../../src/runtime/logger.ts";
import { createService, type Service, type ServiceOptions } from "../../src/service.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { WebhookKeys } from "../../src/webhooks/secrets.ts";
import type { Attempt } from "../../src/webhooks/sending/attempt.ts";
import { WEBHOOK_KEY } from "./webhook_key.ts";
import { describedAnswer } from "./assert_described.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { fetchFrom, type FetchHandler } from "./fetch_from.ts";
import { type FaultyStore, faultyStore } from "./faulty_store.ts";

/** A service on a store in memory, wired as in production, with one live key. */
export interface TestService extends Service, Client {
  runtime: FakeRuntime;
  /** Calls the handler without a server. */
  fetch: FetchHandler;
  keyId: string;
  token: string;
  /** Log entries of the service, as [level, event, details]. */
  reports: [string, string, Record<string, unknown> | undefined][];
  /** How the receivers of webhooks answer. */
  receivers: Pick<Attempt, "status" | "answer">;
  /** The store below, whose calls go through faults. */
  faults: FaultyStore;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Client {
  /** Sends a request without a key. */
  sendBare(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a request with the live key, unless `headers` say otherwise. */
  send(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a request to add a pet. A body that is not text or bytes is sent as JSON. */
  add(pet: unknown, headers?: HeadersInit): Promise<Response>;
  /** Sends a request to change the pet with an id, with such a body. */
  change(petId: number | string, patch: unknown, headers?: HeadersInit): Promise<Response>;
  remove(petId: number | string, headers?: HeadersInit, body?: string): Promise<Response>;
  restore(petId: number | string, headers?: HeadersInit): Promise<Response>;
  /** Sends a request to name the category with an id. A body that is not the name is sent as it is. */
  nameCategory(
    id: bigint | string,
    name: string | object,
    headers?: HeadersInit,
  ): Promise<Response>;
  removeCategory(id: bigint | string, headers?: HeadersInit): Promise<Response>;
  /** Lists all categories. Rejects if the response is not a list. */
  listCategories(): Promise<{ id: bigint; name: string }[]>;
  /** Sends a request to add a webhook. */
  addWebhook(terms: unknown, headers?: HeadersInit): Promise<Response>;
  updateWebhook(id: string, patch: unknown, headers?: HeadersInit): Promise<Response>;
  removeWebhook(id: string, headers?: HeadersInit): Promise<Response>;
  rotateWebhookSecret(id: string, headers?: HeadersInit): Promise<Response>;
  /** Lists pets, and resolves to their ids. Rejects if the response is not a list. */
  listIds(query?: string): Promise<number[]>;
}

/** The keys for the secrets of webhooks of test services. */
export const WEBHOOK_KEYS = WebhookKeys.parse(WEBHOOK_KEY)!;

/** Opens the stores of test services. Tests of another engine replace it. */
export const TEST_STORES = {
  open: (): Promise<Store> => SqliteStore.open(":memory:"),
};

export async function openTestService(
  options: Partial<ServiceOptions> = {},
): Promise<TestService> {
  const runtime = new FakeRuntime();
  const reports: TestService["reports"] = [];
  const store = faultyStore(runtime.awaited(await TEST_STORES.open()));
  const report: Logger = (level, event, details) => reports.push([level, event, details]);
  const receivers: TestService["receivers"] = { status: 200 };
  const send = () => {
    const time = new Date(runtime.now()).toISOString();
    return Promise.resolve({ time, durationMs: 0, ...receivers });
  };
  const ofWebhooks = { webhookKeys: WEBHOOK_KEYS, webhookSender: { send } };
  const service = createService({ store, runtime, report, ...ofWebhooks, ...options });
  const { id: keyId, token } = await issueApiKey(service, { label: "test" });
  const client = clientOfHandler(token, service.handler);
  const close = async () => {
    // A failed commit waits for its retry.
    await runtime.settle(service.appender.drain());
    store.close();
  };
  const fetch = fetchFrom(service.handler);
  const own = {
    runtime,
    fetch,
    keyId,
    token,
    receivers,
    reports,
    faults: store,
    [Symbol.asyncDispose]: close,
  };
  return { ...service, ...client, ...own };
}

/** Another instance on the same store, or the same one after a restart, with its client. */
export function otherInstance(
  { store, runtime, token }: TestService,
  options: Partial<ServiceOptions> = {},
): Service & Client {
  const own = { store, runtime, report: () => {}, webhookKeys: WEBHOOK_KEYS };
  const service = createService({ ...own, ...options });
  return { ...service, ...clientOfHandler(token, service.handler) };
}

export function clientOfHandler(token: string, handler: RequestHandler): Client {
  const fetch = fetchFrom(handler);
  return clientOf(token, (path, init) => fetch(new Request(`http://localhost${path}`, init)));
}

/** A client with a key, over any transport. It asserts that every response is described. */
export function clientOf(token: string, carry: Client["sendBare"]): Client {
  const sendBare: Client["sendBare"] = (path, init = {}) =>
    describedAnswer(init.method, path, carry(path, init));
  const send: Client["send"] = (path, init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
    return sendBare(path, { ...init, headers });
  };
  const sendJson = (method: string, path: string, body: unknown, headers: HeadersInit = {}) =>
    send(path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" || body instanceof Uint8Array
        ? body as BodyInit
        : JSON.stringify(body),
    });
  return {
    sendBare,
    send,
    add: (pet, headers) => sendJson("POST", "/v1/pets", pet, headers),
    change: (petId, patch, headers) => sendJson("PATCH", `/v1/pets/${petId}`, patch, headers),
    listIds: async (query = "") =>
      (await (await send(`/v1/pets?${query}`)).json()).map(({ id }: { id: number }) => id),
    nameCategory: (id, name, headers) => {
      const body = typeof name === "string" ? { name } : name;
      return sendJson("PUT", `/v1/categories/${id}`, body, headers);
    },
    removeCategory: (id, headers) => send(`/v1/categories/${id}`, { method: "DELETE", headers }),
    listCategories: async () =>
      parseExactJson(await (await send("/v1/categories")).text()) as { id: bigint; name: string }[],
    addWebhook: (terms, headers) => sendJson("POST", "/v1/webhooks", terms, headers),
    updateWebhook: (id, patch, headers) => sendJson("PATCH", `/v1/webhooks/${id}`, patch, headers),
    removeWebhook: (id, headers) => send(`/v1/webhooks/${id}`, { method: "DELETE", headers }),
    rotateWebhookSecret: (id, headers) =>
      send(`/v1/webhooks/${id}/secret`, { method: "POST", headers }),
    restore: (petId, headers) => send(`/v1/pets/${petId}/restore`, { method: "POST", headers }),
    remove: (petId, headers, body) =>
      send(`/v1/pets/${petId}`, { method: "DELETE", headers, body }),
  };
}
