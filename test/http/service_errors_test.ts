import { assertEquals } from "@std/assert";
import { APPEND_LIMIT_MS, QUEUE_LIMIT } from "../../src/append/appender.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { type ErrorCode, ERRORS } from "../../src/http/errors.ts";
import { keyByTokenKey, projectionKey } from "../../src/keyspace.ts";
import type { ServiceErrorCode } from "../../src/service_error.ts";
import { KV_LIMITS } from "../../src/store/deno_kv/kv_store.ts";
import { COMMIT_FAULTS, type FaultyStore, faultyStore } from "../support/faulty_store.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

type Scenario = (service: TestService, store: FaultyStore) => Promise<Response>;

const REX = { name: "Rex", categoryId: 7 };

/** How to get each error of the domain and of the store; those of requests are in `errors_test`. */
const SCENARIOS: Record<
  | Exclude<ServiceErrorCode, "invalid_credentials" | "pet_not_found" | "read_only_key">
  | "internal_error",
  Scenario
> = {
  idempotency_key_reused: async ({ add }) => {
    await add(REX, { "idempotency-key": "one" });
    return await add({ ...REX, name: "Mia" }, { "idempotency-key": "one" });
  },
  precondition_failed: async ({ add, change }) => {
    await add(REX);
    return await change(1, { name: "Mia" }, { "if-match": '"a"' });
  },
  internal_error: ({ send }, store) => {
    store.onList = () => Promise.resolve([undefined as never]);
    return send("/v1/pets");
  },
  projection_damaged: ({ send }, store) => {
    const key = projectionKey(1, keyByTokenKey("hash", 2));
    const value = '{"keyId":"01KA7Z9MZ4QH4C4P5R4Z2Y0V7B","revokedAt":"2026-01-01T00:00:00.000Z"}';
    store.onList = () => Promise.resolve([{ key, value, versionstamp: "1" }]);
    return send("/v1/pets");
  },
  store_unavailable: ({ send }, store) => {
    store.onList = () => Promise.reject(new Error("gone"));
    return send("/v1/pets");
  },
  outcome_unknown: async ({ runtime, add }, store) => {
    store.onCommit = COMMIT_FAULTS.hangs;
    const pending = add(REX);
    await runtime.advance(APPEND_LIMIT_MS);
    return await pending;
  },
  storage_full: async ({ runtime, add }, store) => {
    store.onCommit = COMMIT_FAULTS.isFull;
    return await runtime.settle(add(REX));
  },
  overloaded: ({ add }, store) => {
    store.onCommit = COMMIT_FAULTS.hangs;
    // During the commit, only an addition that finds the queue full gets a response.
    const length = KV_LIMITS.commitMutations + QUEUE_LIMIT + 1;
    return Promise.race(Array.from({ length }, () => add(REX)));
  },
  shutting_down: async ({ appender, store, send }) => {
    await appender.drain();
    store.close();
    return await send("/v1/pets");
  },
};

for (const [code, scenario] of Object.entries(SCENARIOS)) {
  // The client of the service asserts that the operation describes the response.
  Deno.test(`a client gets the described error ${code}`, async () => {
    let store!: FaultyStore;
    const service = await openTestService((inner) => store = faultyStore(inner));
    try {
      // After any key event, the next request reads its own key again.
      await issueKey(service, { label: "another" });
      const response = await scenario(service, store);
      const body = await response.json();
      const { status } = ERRORS[code as ErrorCode];
      assertEquals([response.status, body.status, body.code], [status, status, code]);
    } finally {
      store.onCommit = COMMIT_FAULTS.lands;
      const closed = service[Symbol.asyncDispose]();
      await service.runtime.advance(2 * APPEND_LIMIT_MS);
      await closed;
    }
  });
}
