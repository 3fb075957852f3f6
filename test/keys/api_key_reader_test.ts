import { sha256Hex } from "eventstore-less/parts";
import type { Head } from "../../src/eventstore_less/definitions.ts";
import { issuedRecordKey, stateRecordKey } from "../../src/keys/record_keys.ts";
import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import { ApiKeyReader, listApiKeys } from "../../src/keys/api_key_reader.ts";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { putRecord } from "../support/set_record.ts";
import { commit } from "../support/store_contract.ts";
import { faultyStore, hold } from "../support/faulty_store.ts";
import { openTestService } from "../support/test_service.ts";
import { utf8 } from "../support/utf8.ts";

async function open() {
  const service = await openTestService();
  const apiKeys = new ApiKeyReader(service.store, service.runtime);
  const headNow = async () => (await service.heads.fresh()).head;
  const authorize = async (token: string, head: Head) =>
    await apiKeys.authorize(token, head, service.runtime.now());
  const { [Symbol.asyncDispose]: dispose } = service;
  return {
    service,
    store: service.faults,
    apiKeys,
    headNow,
    authorize,
    [Symbol.asyncDispose]: dispose,
  };
}

Deno.test("authorize() reads a key once until the next key event, and cached() returns it until then", async () => {
  await using opened = await open();
  const { service, store, apiKeys, headNow } = opened;
  const { token } = service;
  const cached = async () => apiKeys.cached(token, await headNow());
  const authorize = async () => await opened.authorize(token, await headNow());
  assertEquals(await cached(), undefined);
  const key = await authorize();
  assertEquals([key.id, key.label], [service.keyId, "test"]);
  await (await service.add({ name: "Rex", categoryId: 1 })).body?.cancel();
  const readsOfKeys = () =>
    store.snapshots.filter(({ keys }) => keys.some((key) => key[2] === "key_state")).length;
  const reads = readsOfKeys();
  assertEquals([await cached(), await authorize()], [key, key]);
  assertEquals(readsOfKeys(), reads);
  await issueApiKey(service, { label: "other" });
  assertEquals(await cached(), undefined);
  assertEquals(await authorize(), key);
  assertGreater(readsOfKeys(), reads);
});

Deno.test("authorize() ends a cached key in time, although the clock was set back by a day", async () => {
  await using opened = await open();
  const { service: { runtime }, service, apiKeys, headNow, authorize } = opened;
  const { token } = await issueApiKey(service, {
    label: "short",
    expiresAt: runtime.now() + 60_000,
  });
  const head = await headNow();
  await authorize(token, head);
  runtime.jumpClock(-24 * 60 * 60_000);
  await runtime.advance(59_999);
  assertEquals(apiKeys.cached(token, head)?.label, "short");
  await runtime.advance(1);
  assertEquals(apiKeys.cached(token, head), undefined);
  await assertRejects(() => authorize(token, head), ServiceError, "The API key is expired");
});

Deno.test("authorize() ends a cached key in time, although a slower read ended after the clock was set back", async () => {
  await using opened = await open();
  const { service: { runtime }, service, store, headNow, authorize } = opened;
  const { token } = await issueApiKey(service, {
    label: "short",
    expiresAt: runtime.now() + 60_000,
  });
  const head = await headNow();
  const slow = hold("after");
  store.onSnapshot = slow.fault;
  const reading = authorize(token, head);
  await slow.reached;
  store.onSnapshot = (apply) => apply();
  await authorize(token, head);
  runtime.jumpClock(-24 * 60 * 60_000);
  slow.release();
  await reading;
  await runtime.advance(60_000);
  await assertRejects(() => authorize(token, head), ServiceError, "The API key is expired");
});

Deno.test("authorize() rejects a mistyped token without reading the store", async () => {
  await using opened = await open();
  const { service, store, apiKeys, headNow, authorize } = opened;
  const head = await headNow();
  let reads = 0;
  store.onSnapshot = (apply) => {
    reads++;
    return apply();
  };
  for (const token of ["", "nonsense", service.token.slice(0, -1), `${service.token}0`]) {
    await assertRejects(() => authorize(token, head), ServiceError, "is mistyped or cut off");
  }
  assertEquals(reads, 0);
  const unknown = newToken((length) => new Uint8Array(length).fill(255));
  await assertRejects(() => authorize(unknown, head), ServiceError, "The API key is not known");
  assertEquals(reads, 1);
  assertEquals(apiKeys.cached(unknown, head), undefined);
});

Deno.test("authorize() refuses a key of which a record is missing, revoked or not", async () => {
  await using opened = await open();
  const { service, headNow, authorize } = opened;
  const { token } = service;
  const hash = sha256Hex(token);
  for (const isRevoked of [false, true]) {
    if (isRevoked) await revokeApiKey(service, service.keyId);
    const head = await headNow();
    for (const keyOf of [issuedRecordKey, stateRecordKey]) {
      const key = projectionKey(head.generation, keyOf(hash));
      const { value } = (await service.store.get(key))!;
      await putRecord(service.store, key);
      const reader = new ApiKeyReader(service.store, service.runtime);
      const lost = async () => await reader.authorize(token, head, service.runtime.now());
      assertEquals((await assertRejects(lost, ServiceError)).code, "projection_damaged");
      await commit(service.store, [{ type: "set", key, value: value as Uint8Array }]);
    }
    if (isRevoked) await assertRejects(() => authorize(token, head), ServiceError, "is revoked");
    else await authorize(token, head);
  }
});

Deno.test("listApiKeys() returns all keys, also if they need several reads", async () => {
  await using opened = await open();
  const { service, headNow } = opened;
  const count = 1_005;
  const issued = await Promise.all(
    Array.from({ length: count }, (_, index) => issueApiKey(service, { label: `key ${index}` })),
  );
  await revokeApiKey(service, issued[0].id);
  const apiKeys = await listApiKeys(service.store, await headNow());
  assertEquals(apiKeys.length, count + 1);
  assertEquals(new Set(apiKeys.map(({ id }) => id)).size, count + 1);
  assertEquals(apiKeys.filter(({ isRevoked }) => isRevoked).map(({ id }) => id), [issued[0].id]);
});

Deno.test("listApiKeys() returns each key once, although others are issued between its reads", async () => {
  await using opened = await open();
  const { service, store, headNow } = opened;
  const issue = () => issueApiKey(service, { label: "other" });
  await Promise.all(Array.from({ length: 30 }, issue));
  let reads = 0;
  const issueFirst = async () => {
    reads++;
    if (reads < 20) await issue();
  };
  store.onList = (apply) => issueFirst().then(apply);
  store.onSnapshot = (apply) => issueFirst().then(apply);
  const limited = faultyStore(service.store);
  Object.assign(limited, { limits: { ...service.store.limits, listEntries: 7 } });
  const apiKeys = await listApiKeys(limited, await headNow());
  assertGreater(reads, 3);
  assertGreater(apiKeys.length, 30);
  assertEquals(new Set(apiKeys.map(({ id }) => id)).size, apiKeys.length);
});

Deno.test("listApiKeys() rejects with projection_damaged if the issue of a key is missing or damaged", async () => {
  await using opened = await open();
  const { service, headNow } = opened;
  await revokeApiKey(service, service.keyId);
  const head = await headNow();
  const [{ tokenHash }] = await listApiKeys(service.store, head);
  const key = projectionKey(head.generation, issuedRecordKey(tokenHash));
  for (const damage of [{ type: "delete", key }, { type: "set", key, value: utf8("{") }] as const) {
    await commit(service.store, [damage]);
    const failure = await assertRejects(() => listApiKeys(service.store, head), ServiceError);
    assertEquals(failure.code, "projection_damaged");
  }
});
