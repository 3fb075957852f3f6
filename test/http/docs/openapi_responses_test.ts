import { assert, assertEquals } from "@std/assert";
import { issueKey } from "../../../src/commands/issue_key.ts";
import type { ErrorCode } from "../../../src/http/errors.ts";
import { HOLD_BACK_MS } from "../../../src/http/limits/rate_limiter.ts";
import { BODY_LIMIT_BYTES, BODY_LIMIT_MS } from "../../../src/http/requests/request_body.ts";
import { APPEND_LIMIT_MS, QUEUE_LIMIT } from "../../../src/append/appender.ts";
import { keyByTokenKey, projectionKey } from "../../../src/keyspace.ts";
import { KV_LIMITS } from "../../../src/store/deno_kv/kv_store.ts";
import { DESCRIPTION } from "../../support/assert_described.ts";
import { COMMIT_FAULTS, type FaultyStore, faultyStore } from "../../support/faulty_store.ts";
import { openTestService, type TestService } from "../../support/test_service.ts";

/** A service with one pet on a faulty store, and one of its operations. */
interface Fixture {
  service: TestService;
  store: FaultyStore;
  call: (change?: Change) => Promise<Response>;
}

/** Differences from a call that succeeds. */
interface Change {
  path?: string;
  headers?: Record<string, string>;
  body?: BodyInit;
}

type Scenario = (fixture: Fixture) => Promise<Response>;

const REX = '{"name":"Rex","categoryId":7,"status":"available"}';

const REQUESTS: Record<string, { method: string; path: string; body?: string }> = {
  listPets: { method: "GET", path: "/v1/pets" },
  createPet: { method: "POST", path: "/v1/pets", body: REX },
  getPet: { method: "GET", path: "/v1/pets/1" },
};

/** How to get each described response: a success by its status, an error by its code. */
const SCENARIOS: Record<"200" | "201" | "304", Scenario> & Partial<Record<ErrorCode, Scenario>> = {
  200: ({ call }) => call(),
  201: ({ call }) => call(),
  304: async ({ call }) => {
    const etag = (await call()).headers.get("etag")!;
    return await call({ headers: { "if-none-match": etag } });
  },
  invalid_parameter: ({ call }) => call({ path: "?owner=1" }),
  invalid_idempotency_key: ({ call }) => call({ headers: { "idempotency-key": "" } }),
  malformed_body: ({ call }) => call({ body: '{"name":"Rex",}' }),
  invalid_body: ({ call }) => call({ body: "{}" }),
  missing_credentials: ({ call }) => call({ headers: { authorization: "" } }),
  invalid_credentials: ({ call }) => call({ headers: { authorization: "Bearer pets_none" } }),
  read_only_key: async ({ service, call }) => {
    const { token } = await issueKey(service, { label: "reader", isReadOnly: true });
    return await call({ headers: { authorization: `Bearer ${token}` } });
  },
  pet_not_found: ({ call }) => call({ path: "9" }),
  request_timeout: async ({ service, call }) => {
    const pending = call({ body: new ReadableStream() });
    await service.runtime.advance(BODY_LIMIT_MS);
    return await pending;
  },
  body_too_large: ({ call }) => call({ body: " ".repeat(BODY_LIMIT_BYTES + 1) }),
  unsupported_media_type: ({ call }) => call({ headers: { "content-type": "text/plain" } }),
  idempotency_key_reused: async ({ call }) => {
    const headers = { "idempotency-key": "one" };
    await call({ headers });
    return await call({ headers, body: '{"name":"Mia","categoryId":7}' });
  },
  malformed_request: ({ call }) => call({ headers: { host: "localhost/healthz?" } }),
  rate_limited: async ({ service, call }) => {
    await call();
    const pending = call();
    await service.runtime.advance(HOLD_BACK_MS);
    return await pending;
  },
  internal_error: ({ store, call }) => {
    store.onList = () => Promise.resolve([{ key: [], value: "{", versionstamp: "1" }]);
    return call();
  },
  projection_damaged: ({ store, call }) => {
    const key = projectionKey(1, keyByTokenKey("hash", 2));
    const value = '{"keyId":"01KA7Z9MZ4QH4C4P5R4Z2Y0V7B","revokedAt":"2026-01-01T00:00:00.000Z"}';
    store.onList = () => Promise.resolve([{ key, value, versionstamp: "1" }]);
    return call();
  },
  store_unavailable: ({ store, call }) => {
    store.onList = () => Promise.reject(new Error("gone"));
    return call();
  },
  outcome_unknown: async ({ service, store, call }) => {
    store.onCommit = COMMIT_FAULTS.hangs;
    const pending = call();
    await service.runtime.advance(APPEND_LIMIT_MS);
    return await pending;
  },
  storage_full: async ({ service, store, call }) => {
    store.onCommit = COMMIT_FAULTS.isFull;
    return await service.runtime.settle(call());
  },
  overloaded: ({ store, call }) => {
    store.onCommit = COMMIT_FAULTS.hangs;
    // During the commit, only an addition that finds the queue full gets a response.
    const length = KV_LIMITS.commitMutations + QUEUE_LIMIT + 1;
    return Promise.race(Array.from({ length }, () => call()));
  },
  shutting_down: async ({ service, call }) => {
    await service.appender.drain();
    service.store.close();
    return await call();
  },
};

for (const operation of Object.values(DESCRIPTION.paths).flatMap((path) => Object.values(path))) {
  const { operationId, responses } = operation;
  for (const [status, { content }] of Object.entries(responses)) {
    for (const code of Object.keys(content?.["application/json"].examples ?? { [status]: {} })) {
      const name = code === status ? status : `${status} ${code}`;
      Deno.test(`${operationId} gives the described response ${name}`, async () => {
        const scenario = SCENARIOS[code as keyof typeof SCENARIOS];
        assert(scenario !== undefined, `No scenario for ${code}`);
        await using fixture = await openFixture(
          operationId,
          code === "rate_limited" ? 1 : undefined,
        );
        const response = await scenario(fixture);
        const text = await response.text();
        assertEquals(response.status, Number(status), text);
        if (code === status) return;
        assertEquals(JSON.parse(text), content?.["application/json"].examples?.[code].value);
      });
    }
  }
}

async function openFixture(
  operationId: string,
  rateLimit: number | undefined,
): Promise<Fixture & AsyncDisposable> {
  let store!: FaultyStore;
  const service = await openTestService((inner) => store = faultyStore(inner), { rateLimit });
  await service.add(REX);
  // After any key event, the next request reads its own key again.
  await issueKey(service, { label: "another" });
  const { method, path, body } = REQUESTS[operationId];
  const call: Fixture["call"] = (change = {}) =>
    service.send(path + (change.path ?? ""), {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...change.headers,
      },
      body: change.body ?? body,
    });
  const close = async () => {
    store.onCommit = COMMIT_FAULTS.lands;
    const closed = service[Symbol.asyncDispose]();
    await service.runtime.advance(2 * APPEND_LIMIT_MS);
    await closed;
  };
  return { service, store, call, [Symbol.asyncDispose]: close };
}
