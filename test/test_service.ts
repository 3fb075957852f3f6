import { BACKOFF_LIMIT_MS } from "../src/host.ts";
import { issueKey } from "../src/commands/issue_key.ts";
import { createService, type Service, type ServiceParts } from "../src/service.ts";
import { KvStore } from "../src/store/kv_store.ts";
import type { Store } from "../src/store/store.ts";
import { describedAnswer } from "./assert_described.ts";
import { FakeHost } from "./fake_host.ts";

/** A service on a store in memory, wired as in production, with one live key. */
export interface TestService extends Service, Client {
  host: FakeHost;
  keyId: string;
  token: string;
  /** What the service reported, as [level, event, details]. */
  reports: [string, string, Record<string, unknown> | undefined][];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Ways to send requests. */
export interface Client {
  /** Sends a request as it is, without a key. */
  sendBare(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a request with the live key, unless `headers` say otherwise. */
  send(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a body to be added as a pet; what is no text or bytes is sent as JSON. */
  add(pet: unknown, headers?: HeadersInit): Promise<Response>;
}

/** `wrap` may put something between the service and its store. */
export async function openTestService(
  wrap: (store: Store) => Store = (store) => store,
  options: Pick<ServiceParts, "rateLimit"> = {},
): Promise<TestService> {
  const host = new FakeHost();
  const reports: TestService["reports"] = [];
  const store = wrap(awaitedBy(host, new KvStore(await Deno.openKv(":memory:"))));
  const service = createService({
    store,
    host,
    report: (level, event, details) => reports.push([level, event, details]),
    ...options,
  });
  const { id, token } = await issueKey(service, { label: "test" });
  const client = clientOf(token, (path, init) => {
    return service.handler(new Request(`http://localhost${path}`, init));
  });
  const close = async () => {
    let isDrained = false;
    const drained = service.appender.drain().finally(() => isDrained = true);
    // Time stands still, and a commit that failed waits for its next try.
    while (!isDrained) await host.advance(BACKOFF_LIMIT_MS);
    await drained;
    store.close();
  };
  return {
    ...service,
    ...client,
    host,
    keyId: id,
    token,
    reports,
    [Symbol.asyncDispose]: close,
  };
}

/** The store, with a host that lets its calls end before time goes on. */
function awaitedBy(host: FakeHost, store: Store): Store {
  return {
    get: (key) => host.during(store.get(key)),
    list: (range, options) => host.during(store.list(range, options)),
    commit: (commit) => host.during(store.commit(commit)),
    close: () => store.close(),
  };
}

/** A client that has a key, over whatever carries its requests. It holds every answer to the description. */
export function clientOf(token: string, carry: Client["sendBare"]): Client {
  const sendBare: Client["sendBare"] = (path, init = {}) =>
    describedAnswer(init.method, path, carry(path, init));
  const send: Client["send"] = (path, init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
    return sendBare(path, { ...init, headers });
  };
  const add: Client["add"] = (pet, headers = {}) =>
    send("/v1/pets", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof pet === "string" || pet instanceof Uint8Array
        ? pet as BodyInit
        : JSON.stringify(pet),
    });
  return { sendBare, send, add };
}
