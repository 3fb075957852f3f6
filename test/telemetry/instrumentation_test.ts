import { assertEquals } from "@std/assert";
import { newToken } from "../../src/projections/api_key.ts";
import { createService } from "../../src/service.ts";
import { RecordingInstrumentation } from "../support/recording_instrumentation.ts";
import { clientOf, openTestService, type TestService } from "../support/test_service.ts";

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
  const carry = (path: string, init?: RequestInit) =>
    handler(new Request(`http://localhost${path}`, init));
  const reportsOf = async (path: string, expected = 200, headers: HeadersInit = {}) => {
    assertEquals(await status(clientOf(token, carry).send(path, { headers })), expected);
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
    "keys hit",
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
    "keys miss",
    "store list key_by_token",
    "pets miss",
    "store list pet",
  ]);
  // The pets were not added together, so each has a record of its own.
  const missed = [...request("/v1/pets/2"), "keys hit", "pets miss", "store list pet"];
  assertEquals(await reportsOf("/v1/pets/2"), missed, "a pet of another record");
  const pet = [...request("/v1/pets/1"), "keys hit", "pets hit"];
  assertEquals(await reportsOf("/v1/pets/1"), pet, "a cached pet");
  const page = [...request("/v1/pets"), "keys hit", "pages hit"];
  assertEquals(await reportsOf("/v1/pets"), page, "a page of cached pets");
  assertEquals(await reportsOf("/v1/pets"), page, "a cached page");
  assertEquals(await reportsOf("/v1/pets?cursor=1"), page, "an empty page");
  // The newest record, and the records before it.
  const lists = Array(2).fill("store list pet_by_status");
  const read = [...request("/v1/pets"), "keys hit", "pages miss", ...lists];
  assertEquals(await reportsOf("/v1/pets?status=sold"), read);
  assertEquals(await reportsOf("/v1/pets?status=sold"), page);
  assertEquals(await reportsOf("/v1/pets?status=sold&cursor=2"), read);
});

Deno.test("A page of pets that are not cached is a miss", async () => {
  await using service = await openTestService();
  assertEquals(await status(service.add({ name: "Rex", categoryId: 1 })), 201);
  const { reportsOf } = openSecond(service);
  assertEquals((await reportsOf("/v1/pets")).slice(-2), ["pages miss", "store list pet"]);
});

Deno.test("An answer that needs neither cache nor store is not a cache read", async () => {
  await using service = await openTestService();
  const { reportsOf } = openSecond(service);
  const missingPet = ["request GET /v1/pets/1", ...FRESH_HEAD, "keys hit"];
  await reportsOf("/v1/pets");
  assertEquals(await reportsOf("/v1/pets/1", 404), missingPet);
  const refused = ["request GET /v1/pets", ...FRESH_HEAD, "credentials refused: invalid"];
  assertEquals(await reportsOf("/v1/pets", 401, { authorization: "Bearer pets_none" }), refused);
});

Deno.test("A request without a key, or with an unknown one, is reported as refused", async () => {
  await using service = await openTestService();
  const { reportsOf } = openSecond(service);
  assertEquals(await reportsOf("/v1/pets", 401, { authorization: "" }), [
    "request GET /v1/pets",
    "credentials refused: missing",
  ]);
  assertEquals(
    await reportsOf("/v1/pets", 401, {
      authorization: `Bearer ${newToken(service.runtime.randomBytes)}`,
    }),
    [
      "request GET /v1/pets",
      ...FRESH_HEAD,
      "keys miss",
      "store list key_by_token",
      "credentials refused: invalid",
    ],
  );
});
