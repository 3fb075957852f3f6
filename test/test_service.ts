import { issueKey } from "../src/commands/issue_key.ts";
import { createService, type Service } from "../src/service.ts";
import { KvStore } from "../src/store/kv_store.ts";
import type { Store } from "../src/store/store.ts";
import { FakeHost } from "./fake_host.ts";

/** A service on a store in memory, wired as in production, with one live key. */
export interface TestService extends Service {
  host: FakeHost;
  keyId: string;
  token: string;
  /** What the service reported, as [level, event, details]. */
  reports: [string, string, Record<string, unknown> | undefined][];
  /** Sends a request with the live key, unless `headers` say otherwise. */
  send(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a body to be added as a pet; an object is sent as JSON. */
  add(pet: unknown, headers?: HeadersInit): Promise<Response>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `wrap` may put something between the service and its store. */
export async function openTestService(
  wrap: (store: Store) => Store = (store) => store,
): Promise<TestService> {
  const host = new FakeHost();
  const reports: TestService["reports"] = [];
  const store = wrap(new KvStore(await Deno.openKv(":memory:")));
  const service = createService({
    store,
    host,
    report: (level, event, details) => reports.push([level, event, details]),
  });
  const { id, token } = await issueKey(service, { label: "test" });
  const send = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
    return service.handler(new Request(`http://localhost${path}`, { ...init, headers }));
  };
  const add = (pet: unknown, headers: HeadersInit = {}) =>
    send("/v1/pets", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof pet === "string" ? pet : JSON.stringify(pet),
    });
  const close = async () => {
    await service.appender.drain();
    store.close();
  };
  return {
    ...service,
    host,
    keyId: id,
    token,
    reports,
    send,
    add,
    [Symbol.asyncDispose]: close,
  };
}
