import { assertEquals } from "@std/assert";
import { newToken } from "../../src/projections/api_key.ts";
import { createService } from "../../src/service.ts";
import { RecordingInstrumentation } from "../support/recording_instrumentation.ts";
import { clientOfHandler, openTestService, type TestService } from "../support/test_service.ts";

const FRESH_HEAD = ["head fresh", "store get head"];

async function status(response: Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

/** A second instance on the store of a service, with empty caches. */
function openSecond({ store, runtime, token }: TestService) {
  const instrumentation = new RecordingInstrumentation();
  const { handler } = createService({ store, runtime, report: () => {}, instrumentation });
  const client = clientOfHandler(token, handler);
  const reportsOf = async (path: string, expected = 200, headers: HeadersInit = {}) => {
    assertEquals(await status(client.send(path, { headers })), expected);
    return instrumentation.take();
  };
  return { reportsOf };
}

Deno.test("A service reports an addition to its instrumentation, from the request to the commit", async () => {
  const instrumentation = new RecordingInstrumentation();
  await using service = await openTestService(undefined, { instrumentation });
  assertEquals(await status(service.add({ name: "Rex", categoryId: 1 })), 201);
  instrumentation.take();
  assertEquals(await status(service.add({ name: "Rex", categoryId: 1 })), 201);
  assertEquals(instrumentation.take(), [
    "request POST /v1/pets",
    "append",
    "restore undefined",
    "restore 3",
    "cache.reads keys hit",
    "commit of 1 for 3",
    "store commit",
    "committed 1",
  ]);
});

Deno.test("A cache read is a miss if it reads the store, and a hit otherwise", async () => {
  await using service = await openTestService();
  for (const name of ["Rex", "Tom"]) {
    assertEquals(await status(service.add({ name, categoryId: 1, status: "sold" })), 201);
  }
  const { reportsOf } = openSecond(service);
  const request = (path: string) => [`request GET ${path}`, ...FRESH_HEAD];

  assertEquals(await reportsOf("/v1/pets/1"), [
    ...request("/v1/pets/1"),
    "cache.reads keys miss",
    "store list key_by_token",
    "cache.reads pets miss",
    "store list pet",
  ]);
  // The pets were not added together, so each has a record of its own.
  const missed = [
    ...request("/v1/pets/2"),
    "cache.reads keys hit",
    "cache.reads pets miss",
    "store list pet",
  ];
  assertEquals(await reportsOf("/v1/pets/2"), missed, "a pet of another record");
  const pet = [...request("/v1/pets/1"), "cache.reads keys hit", "cache.reads pets hit"];
  assertEquals(await reportsOf("/v1/pets/1"), pet, "a cached pet");
  const page = [...request("/v1/pets"), "cache.reads keys hit", "cache.reads pages hit"];
  assertEquals(await reportsOf("/v1/pets"), page, "a page of cached pets");
  assertEquals(await reportsOf("/v1/pets"), page, "a cached page");
  assertEquals(await reportsOf("/v1/pets?cursor=1"), page, "an empty page");
  // The newest record, and the records before it.
  const lists = Array(2).fill("store list pet_by_status");
  const read = [...request("/v1/pets"), "cache.reads keys hit", "cache.reads pages miss", ...lists];
  assertEquals(await reportsOf("/v1/pets?status=sold"), read);
  assertEquals(await reportsOf("/v1/pets?status=sold"), page);
  assertEquals(await reportsOf("/v1/pets?status=sold&cursor=2"), read);
});

Deno.test("A read that needs neither cache nor store is no cache read, and a page of other pets is a miss", async () => {
  await using service = await openTestService();
  assertEquals(await status(service.add({ name: "Rex", categoryId: 1 })), 201);
  const { reportsOf } = openSecond(service);
  assertEquals((await reportsOf("/v1/pets")).slice(-2), [
    "cache.reads pages miss",
    "store list pet",
  ]);
  const missingPet = ["request GET /v1/pets/2", ...FRESH_HEAD, "cache.reads keys hit"];
  assertEquals(await reportsOf("/v1/pets/2", 404), missingPet);
});

Deno.test("A request without a key, or with a mistyped or unknown one, is reported as refused", async () => {
  await using service = await openTestService();
  const { reportsOf } = openSecond(service);
  const read = [...FRESH_HEAD, "cache.reads keys miss", "store list key_by_token"];
  const cases: [authorization: string, reads: string[], reason: string][] = [
    ["", [], "missing"],
    ["Bearer pets_none", FRESH_HEAD, "invalid"],
    [`Bearer ${newToken(service.runtime.randomBytes)}`, read, "invalid"],
  ];
  for (const [authorization, reads, reason] of cases) {
    const expected = ["request GET /v1/pets", ...reads, `credentials.refused ${reason}`];
    assertEquals(await reportsOf("/v1/pets", 401, { authorization }), expected);
  }
});
