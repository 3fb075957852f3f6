/** The operation batchPets. The errors of its operations are in `errors_test`, and their rules in the tests of these. */

import { assert, assertEquals } from "@std/assert";
import { BATCH_MAX } from "../../src/animals/batch_pets.ts";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { BODY_LIMIT_BYTES } from "../../src/runtime/service_request.ts";
import { readLogLines } from "../support/sound_log.ts";
import { COMMIT_FAULTS } from "../support/faulty_store.ts";
import { assertRefused, testEachWay } from "../support/test_each_way.ts";
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
  etag?: string;
  location?: string;
  replayed?: true;
  body?: { id: number; name: string; status?: string } & { code: string };
}

interface Operation {
  action: string;
  petId?: number;
  ifMatch?: string;
  ifNoneMatch?: string;
  expected?: object;
  idempotencyKey?: string;
  body?: unknown;
}

function sendBatch({ send }: Client, body: unknown, headers: HeadersInit = {}): Promise<Response> {
  return send("/v1/pets/batch", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function resultsOf(
  client: Client,
  operations: Operation[],
  headers?: HeadersInit,
): Promise<Result[]> {
  const response = await sendBatch(client, { operations }, headers);
  assertEquals(response.status, 200);
  return (await response.json()).results;
}

/** Sends an operation as a single request, and resolves to what a batch would say of it. */
async function resultOfSingle(client: Client, operation: Operation): Promise<Result> {
  const { action, petId, ifMatch, ifNoneMatch, idempotencyKey, body } = operation;
  const sent = {
    "if-match": ifMatch,
    "if-none-match": ifNoneMatch,
    "idempotency-key": idempotencyKey,
  };
  const headers = Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== undefined),
  );
  const requests: Record<string, () => Promise<Response>> = {
    add: () => client.add(body, headers as HeadersInit),
    change: () => client.change(petId!, body, headers as HeadersInit),
    remove: () => client.remove(petId!, headers as HeadersInit),
    restore: () => client.restore(petId!, headers as HeadersInit),
  };
  const response = await requests[action]();
  const text = await response.text();
  const result: Record<string, unknown> = { status: response.status };
  for (const name of ["etag", "location"]) {
    const value = response.headers.get(name);
    if (value !== null) result[name] = value;
  }
  if (response.headers.has("idempotency-replayed")) result.replayed = true;
  if (text !== "") result.body = JSON.parse(text);
  return result as unknown as Result;
}

async function addMany({ add }: Client, count: number): Promise<string[]> {
  const tags: string[] = [];
  for (let index = 0; index < count; index++) {
    const response = await add(REX);
    await response.body?.cancel();
    tags.push(response.headers.get("etag")!);
  }
  return tags;
}

/** The types and animals of all events of animals. */
async function petEvents({ store }: Pick<TestService, "store">): Promise<string[]> {
  const events = (await readLogLines(store)).map((line) => JSON.parse(line));
  return events.filter(({ type }) => type.startsWith("Pet"))
    .map(({ type, data }) => `${type} ${data.id}`);
}

testEachWay(
  "each result of a batch is the response to the single request, one after the other",
  async (service) => {
    const tags = await addMany(service, 6);
    await using twin = await openTestService();
    await addMany(twin, 6);
    const operations: Operation[] = [
      { action: "add", body: { name: "Zoë", categoryId: 9, status: "sold" } },
      { action: "add", body: { name: "Zoë" } },
      { action: "add" },
      { action: "add", body: [REX] },
      { action: "change", petId: 1, ifMatch: tags[0], body: { status: "sold" } },
      { action: "change", petId: 1, ifMatch: tags[0], body: { status: "pending" } },
      { action: "change", petId: 1, body: { status: "sold" } },
      { action: "change", petId: 1, body: { status: null } },
      { action: "change", petId: 2, ifMatch: "none", body: { status: "sold" } },
      { action: "change", petId: 2, ifNoneMatch: tags[1], body: { status: "sold" } },
      { action: "change", petId: 2, body: {} },
      { action: "remove", petId: 3, ifMatch: tags[2] },
      { action: "remove", petId: 3 },
      { action: "restore", petId: 3, ifMatch: tags[1].replace(/.."$/, '00"') },
      { action: "restore", petId: 3, ifMatch: tags[2] },
      { action: "restore", petId: 3 },
      { action: "remove", petId: 3 },
      { action: "change", petId: 3, body: { status: "sold" } },
      { action: "remove", petId: 99 },
      { action: "remove", petId: -1 },
      { action: "add", idempotencyKey: "line 1", body: REX },
      { action: "add", idempotencyKey: '"line 1"', body: REX },
      { action: "add", idempotencyKey: "", body: REX },
    ];
    const results = await resultsOf(service, operations);
    const single: Result[] = [];
    for (const operation of operations) single.push(await resultOfSingle(twin, operation));
    // The host of a socket has a port.
    const path = ({ location, ...result }: Result) => ({
      ...result,
      location: location && new URL(location).pathname,
    });
    assertEquals(results.map(path), single.map(path));
    assertEquals(await service.listIds(), await twin.listIds());
    assertEquals(
      results.map(({ status }) => status).join(" "),
      "201 400 400 400 200 412 200 200 400 412 400 204 404 412 200 409 204 404 404 404 400 201 400",
    );
  },
);

Deno.test("a batch has every digit of an int64", async () => {
  await using service = await openTestService();
  const body =
    '{"operations":[{"action":"add","body":{"name":"Rex","categoryId":9223372036854775807}}]}';
  const response = await sendBatch(service, body);
  const text = await response.text();
  assert(text.includes('"categoryId":9223372036854775807'), text);
});

Deno.test("an operation with the expected animal is that with its ETag", async () => {
  await using service = await openTestService();
  await addMany(service, 3);
  const [third, second, first] = await (await service.send("/v1/pets")).json();
  const { name, ...rest } = second;
  const sell = { status: "sold" };
  const results = await resultsOf(service, [
    { action: "change", petId: 1, expected: first, body: sell },
    { action: "change", petId: 1, expected: first, body: { status: "pending" } },
    // The order of the fields says nothing.
    { action: "change", petId: 2, expected: { ...rest, name }, body: sell },
    { action: "remove", petId: 3, expected: second },
    { action: "remove", petId: 3, expected: third },
  ]);
  assertEquals(results.map(({ status }) => status), [200, 412, 200, 412, 204]);
});

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

Deno.test("a repeated batch with the same Idempotency-Key does nothing twice and gets the same results", async () => {
  await using service = await openTestService();
  await addMany(service, 3);
  const operations: Operation[] = [
    { action: "add", body: REX },
    { action: "add", body: REX },
    { action: "change", petId: 1, body: { status: "sold" } },
    { action: "change", petId: 1, body: { name: "Max" } },
    { action: "remove", petId: 2 },
    { action: "remove", petId: 99 },
  ];
  const headers = { "idempotency-key": '"of the batch"' };
  const results = await resultsOf(service, operations, headers);
  const events = await petEvents(service);
  assertEquals(results.map(({ status }) => status), [201, 201, 200, 200, 204, 404]);
  const instance = otherInstance(service);
  for (const client of [service, instance]) {
    const repeated = await resultsOf(client, operations, headers);
    const replayed = results.map((it) => it.status === 404 ? it : { ...it, replayed: true });
    assertEquals(repeated, replayed as Result[]);
  }
  // White space says nothing.
  const spaced = JSON.stringify({ operations }, null, 2);
  const response = await sendBatch(service, spaced, headers);
  assertEquals((await response.json()).results.length, operations.length);
  assertEquals(await petEvents(service), events);
});

Deno.test("an Idempotency-Key of another batch or request is refused, and nothing is stored", async () => {
  await using service = await openTestService();
  const operations: Operation[] = [{ action: "add", body: REX }, { action: "add", body: REX }];
  const headers = { "idempotency-key": "first" };
  await resultsOf(service, operations, headers);
  await (await service.add(REX, { "idempotency-key": "single" })).body?.cancel();
  const others: [Operation[], HeadersInit][] = [
    [operations.slice(1), headers],
    [[...operations, { action: "add", body: REX }], headers],
    [operations.toReversed().concat({ action: "remove", petId: 1 }), headers],
    [operations, { "idempotency-key": "single" }],
  ];
  for (const [other, headers] of others) {
    const send = () => sendBatch(service, { operations: other }, headers);
    await assertRefused(service, send, { status: 409, code: "idempotency_key_reused" });
  }
  await service.runtime.advance(24 * 60 * 60 * 1_000 + 1);
  assertEquals(
    (await resultsOf(service, operations.slice(1), headers)).map(({ status }) => status),
    [201],
  );
});

Deno.test("an operation with an Idempotency-Key of its own is the single request with it", async () => {
  await using service = await openTestService();
  const line: Operation = { action: "add", idempotencyKey: "line-1", body: REX };
  const [first] = await resultsOf(service, [line], { "idempotency-key": "one" });
  const [again, other] = await resultsOf(service, [line, {
    ...line,
    body: { ...REX, name: "Max" },
  }], {
    "idempotency-key": "two",
  });
  assertEquals(again, { ...first, replayed: true });
  assertEquals([other.status, other.body!.code], [409, "idempotency_key_reused"]);
  const single = await service.add(REX, { "idempotency-key": "line-1" });
  assertEquals(single.headers.get("idempotency-replayed"), "true");
  assertEquals((await single.json()).id, first.body!.id);
});

Deno.test("a batch of which a part was stored before the store failed is completed by its repetition", async () => {
  await using service = await openTestService();
  await addMany(service, 2);
  const operations: Operation[] = [
    { action: "change", petId: 1, body: { status: "sold" } },
    { action: "add", body: REX },
    // These are in a later commit, because each is the second one of its animal.
    { action: "change", petId: 1, body: { status: "pending" } },
    { action: "remove", petId: 1 },
  ];
  const headers = { "idempotency-key": "half" };
  service.faults.nextCommits = [COMMIT_FAULTS.lands];
  service.faults.onCommit = COMMIT_FAULTS.isRefused;
  const sending = resultsOf(service, operations, headers);
  const results = await service.runtime.settle(sending);
  const codes = (all: Result[]) => all.map(({ status }) => status);
  assertEquals(codes(results), [200, 201, 503, 503]);
  const stored = ["PetUpdated 1", "PetCreated 3"];
  assertEquals((await petEvents(service)).slice(2).toSorted(), stored.toSorted());
  service.faults.onCommit = (apply) => apply();
  // The process has died, and another one serves.
  const repeated = await resultsOf(otherInstance(service), operations, headers);
  assertEquals(codes(repeated), [200, 201, 200, 204]);
  assertEquals(repeated.map(({ replayed = false }) => replayed), [true, true, false, false]);
  const all = (await petEvents(service)).slice(2);
  assertEquals(all.toSorted(), [...stored, "PetUpdated 1", "PetRemoved 1"].toSorted());
});

Deno.test("an operation with a wrong target is refused alone", async () => {
  await using service = await openTestService();
  const operations = [
    { action: "remove" },
    { action: "add", body: REX, petId: 1 },
    { action: "remove", petId: 1, ifMatch: "*", expected: { id: 1, ...REX } },
    { action: "add", body: REX },
  ];
  const response = await service.send("/v1/pets/batch", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ operations }),
  });
  const { results } = await response.json();
  assertEquals(
    results.map(({ status, body }: { status: number; body: { message?: string } }) => [
      status,
      body.message,
    ]),
    [
      [400, 'Field "petId" is missing'],
      [400, 'Field "petId" is assigned by the service: leave it out'],
      [400, 'Field "expected" cannot be used with ifMatch'],
      [201, undefined],
    ],
  );
});

Deno.test("a batch that is malformed is refused as a whole", async () => {
  await using service = await openTestService();
  const add = { action: "add", body: REX };
  const cases: [body: unknown, code: string, message: RegExp][] = [
    ["[]", "malformed_body", /one JSON object/],
    [{}, "invalid_body", /Field "operations" is missing/],
    [{ operations: [] }, "invalid_body", /array of 1 to 100 operations/],
    [{ operations: {} }, "invalid_body", /array of 1 to 100 operations/],
    [{ operations: Array(BATCH_MAX + 1).fill(add) }, "invalid_body", /array of 1 to 100/],
    [{ operations: [add], more: 1 }, "invalid_body", /Field "more" is not known/],
    [{ operations: [add, 1] }, "invalid_body", /^operations\[1\] must be an object$/],
    [
      { operations: [add, { body: REX }] },
      "invalid_body",
      /^operations\[1\]: Field "action" is miss/,
    ],
    [{ operations: [{ action: "sell" }] }, "invalid_body", /Field "action" must be one of add, /],
    [
      { operations: [{ action: "remove", petId: "1" }] },
      "invalid_body",
      /Field "petId" must be an int/,
    ],
    [
      { operations: [{ ...add, ifMatch: null }] },
      "invalid_body",
      /Field "ifMatch" must be a string/,
    ],
    [
      { operations: [{ ...add, etag: "" }] },
      "invalid_body",
      /Field "etag" is not known; the fields/,
    ],
    [
      { operations: [{ action: "remove", petId: 1, expected: REX }] },
      "invalid_body",
      /Field "expected"/,
    ],
    [
      '{"operations":[{"action":"add","body":{"name":"a","name":"b"}}]}',
      "invalid_body",
      /repeated/,
    ],
  ];
  for (const [body, code, message] of cases) {
    await assertRefused(service, () => sendBatch(service, body), { status: 400, code, message });
  }
  const long = { operations: [{ action: "add", body: { name: "x".repeat(BODY_LIMIT_BYTES) } }] };
  await assertRefused(service, () => sendBatch(service, long), {
    status: 413,
    code: "body_too_large",
  });
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
  const response = await sendBatch(service, { operations });
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
