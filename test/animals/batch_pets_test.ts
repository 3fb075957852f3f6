/** The commits, keys and failures of the operation batchPets. */

import { assert, assertEquals } from "@std/assert";
import { BATCH_MAX } from "../../src/animals/batch_pets.ts";
import type { Key } from "../../src/eventstore_less/store/store.ts";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { readLogLines } from "../support/sound_log.ts";
import { COMMIT_FAULTS } from "../support/faulty_store.ts";
import {
  type Client,
  clientOfHandler,
  openTestService,
  otherInstance,
  type TestService,
} from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };

interface Result {
  status: number;
  replayed?: true;
  body?: { id: number; code: string };
}

interface Operation {
  action: string;
  petId?: number;
  body?: object;
}

function sendBatch({ send }: Client, operations: Operation[], headers: HeadersInit = {}) {
  return send("/v1/pets/batch", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ operations }),
  });
}

async function resultsOf(
  client: Client,
  operations: Operation[],
  headers?: HeadersInit,
): Promise<Result[]> {
  const response = await sendBatch(client, operations, headers);
  assertEquals(response.status, 200);
  return (await response.json()).results;
}

async function addMany({ add }: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await (await add(REX)).body?.cancel();
}

/** The types and animals of all events of animals. */
async function petEvents({ store }: Pick<TestService, "store">): Promise<string[]> {
  const events = (await readLogLines(store)).map((line) => JSON.parse(line));
  return events.filter(({ type }) => type.startsWith("Pet"))
    .map(({ type, data }) => `${type} ${data.id}`);
}

Deno.test("a batch of operations for different animals is one commit, in their order, with nothing between them", async () => {
  await using service = await openTestService();
  await addMany(service, 40);
  const { token } = await issueApiKey(service, { label: "other" });
  const other = clientOfHandler(token, service.handler);
  const commits = service.faults.commits.length;
  const operations = Array.from({ length: BATCH_MAX }, (_, index): Operation => {
    if (index < 20) return { action: "change", petId: index + 1, body: { status: "sold" } };
    if (index < 40) return { action: "remove", petId: index + 1 };
    return { action: "add", body: { name: `${index}`, categoryId: 1 } };
  });
  const [results, ...others] = await Promise.all([
    resultsOf(service, operations),
    ...Array.from({ length: 10 }, () => other.add({ name: "between", categoryId: 1 })),
  ]);
  for (const response of others) await response.body?.cancel();
  assertEquals(results.filter(({ status }) => status >= 300), []);
  const lines = (await readLogLines(service.store)).map((line) => JSON.parse(line));
  const ofBatch = lines.flatMap(({ data, actor }, index) => {
    return actor === service.keyId && index >= lines.length - 110 ? [`${index} ${data.id}`] : [];
  });
  const [first] = ofBatch[0].split(" ").map(Number);
  const ids = [
    ...operations.slice(0, 40).map(({ petId }) => petId),
    ...results.slice(40).map(({ body }) => body!.id),
  ];
  assertEquals(ofBatch, ids.map((id, index) => `${first + index} ${id}`));
  assert(service.faults.commits.length - commits <= 2);
});

Deno.test("a batch of which a part was stored before the store failed is completed by its repetition", async () => {
  await using service = await openTestService();
  await addMany(service, 2);
  const operations: Operation[] = [
    { action: "change", petId: 1, body: { status: "sold" } },
    { action: "add", body: REX },
    // These are in a later commit, because the first of them changes nothing.
    { action: "change", petId: 1, body: { status: "sold" } },
    { action: "remove", petId: 1 },
  ];
  const headers = { "idempotency-key": "half" };
  service.faults.nextCommits = [COMMIT_FAULTS.lands];
  service.faults.onCommit = COMMIT_FAULTS.isRefused;
  const sending = resultsOf(service, operations, headers);
  const results = await service.runtime.settle(sending);
  const codes = (all: Result[]) => all.map(({ status }) => status);
  assertEquals(codes(results), [200, 201, 200, 503]);
  const stored = ["PetUpdated 1", "PetCreated 3"];
  assertEquals((await petEvents(service)).slice(2), stored);
  service.faults.onCommit = (apply) => apply();
  // The process has died, and another one serves.
  const repeated = await resultsOf(otherInstance(service), operations, headers);
  assertEquals(codes(repeated), [200, 201, 200, 204]);
  assertEquals(repeated.map(({ replayed = false }) => replayed), [true, true, false, false]);
  const all = (await petEvents(service)).slice(2);
  assertEquals(all, [...stored, "PetRemoved 1"]);
});

Deno.test("a batch is stored in its order, also if the store is slow to read some animals", async () => {
  await using service = await openTestService();
  await addMany(service, 6);
  const { resolve: release, promise: isReleased } = Promise.withResolvers<void>();
  const isSlow = (key: Key) => key.includes("pet") && key.includes(3);
  service.faults.onSnapshot = async (apply, keys) => {
    if (keys.some(isSlow)) await isReleased;
    return await apply();
  };
  service.faults.onGet = async (apply, key) => {
    if (isSlow(key)) await isReleased;
    return await apply();
  };
  const changed = (petId: number, status: string) => ({
    action: "change",
    petId,
    body: { status },
  });
  const sending = resultsOf(service, [
    changed(5, "sold"),
    changed(3, "sold"),
    changed(5, "pending"),
    { action: "remove", petId: 1 },
    { action: "add", body: REX },
    // It changes nothing, so it must be decided on what is stored.
    changed(5, "pending"),
    changed(3, "pending"),
    { action: "remove", petId: 6 },
  ]);
  await service.runtime.advance(1_000);
  release();
  const results = await service.runtime.settle(sending);
  assertEquals(results.map(({ status }) => status), [200, 200, 200, 204, 201, 200, 200, 204]);
  assertEquals((await petEvents(service)).slice(6), [
    "PetUpdated 5",
    "PetUpdated 3",
    "PetUpdated 5",
    "PetRemoved 1",
    "PetCreated 7",
    "PetUpdated 3",
    "PetRemoved 6",
  ]);
});

Deno.test("each result of a batch says if its API key was revoked before the commit", async () => {
  await using service = await openTestService();
  const operations = Array<Operation>(3).fill({ action: "add", body: REX });
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  // The batch is accepted, and waits behind a commit until the key is revoked.
  service.faults.nextCommits = [async (apply) => {
    resolve();
    await service.runtime.nextTurn();
    return await apply();
  }];
  const first = service.add(REX);
  await reached;
  const sending = resultsOf(service, operations);
  await revokeApiKey(service, service.keyId);
  assertEquals((await first).status, 201);
  const codes = (await sending).map(({ status, body }) => `${status} ${body?.code}`);
  assertEquals(codes, Array(3).fill("401 invalid_credentials"));
});

Deno.test("a batch counts for the rate limit as often as it has operations, and is carried out", async () => {
  await using service = await openTestService({ rateLimit: 10 });
  const operations = Array<Operation>(60).fill({ action: "add", body: REX });
  const response = await sendBatch(service, operations);
  assertEquals(response.headers.get("ratelimit"), '"default";r=0;t=1');
  assertEquals((await response.json()).results.length, 60);
  const waiting = async (ms: number) => {
    await service.runtime.advance(ms);
    const answering = service.runtime.settle(service.send("/v1/pets?limit=1"));
    const { status, body } = await answering;
    await body?.cancel();
    return status;
  };
  assertEquals([await waiting(0), await waiting(3_000)], [429, 429]);
  assertEquals(await waiting(2_000), 200);
});

Deno.test("a failure within a batch is in the log of the service", async () => {
  await using service = await openTestService();
  await addMany(service, 1);
  service.faults.onCommit = COMMIT_FAULTS.isRefused;
  const results = await service.runtime.settle(resultsOf(service, [
    { action: "change", petId: 1, body: { status: "sold" } },
    { action: "change", petId: 9, body: { status: "sold" } },
  ]));
  assertEquals(results.map(({ status }) => status), [503, 404]);
  const failed = service.reports.filter(([, event]) => event === "request_failed");
  assertEquals(failed.map(([, , details]) => details?.path), ["/v1/pets/batch"]);
});
