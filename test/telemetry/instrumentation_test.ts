import { assertEquals } from "@std/assert";
import { newToken } from "../../src/projections/api_key.ts";
import { createService } from "../../src/service.ts";
import { RecordingInstrumentation } from "../support/recording_instrumentation.ts";
import { clientOfHandler, openTestService, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1, status: "sold" };
const FRESH_HEAD = ["head fresh", "store get head"];

/** Starts a second instance on the same store, with empty caches. Returns a function that reads a path and its reports. */
function reporter({ store, runtime, token }: TestService) {
  const instrumentation = new RecordingInstrumentation();
  const { handler } = createService({ store, runtime, report: () => {}, instrumentation });
  const client = clientOfHandler(token, handler);
  return async (path: string, headers: HeadersInit = {}) => {
    const response = await client.send(path, { headers });
    await response.body?.cancel();
    const [request, ...reports] = instrumentation.take();
    assertEquals(request, `request GET ${path.split("?")[0]}`);
    return reports;
  };
}

Deno.test("A service reports an addition to its instrumentation, from the request to the commit", async () => {
  const instrumentation = new RecordingInstrumentation();
  await using service = await openTestService(undefined, { instrumentation });
  assertEquals((await service.add(REX)).status, 201);
  instrumentation.take();
  assertEquals((await service.add(REX)).status, 201);
  assertEquals(instrumentation.take(), [
    "request POST /v1/pets",
    "append",
    "restore undefined",
    "restore 3",
    "cache.reads keys hit",
    "commit of 1 for 3",
    "store commit",
    "committed PetCreated",
  ]);
});

Deno.test("A cache read is a miss if it reads the store, and a hit otherwise", async () => {
  await using service = await openTestService();
  for (let count = 0; count < 2; count++) assertEquals((await service.add(REX)).status, 201);
  const reportsOf = reporter(service);
  /** Requests in this order, with the caches that they read, and the reads of the store. */
  const requests: [path: string, ...reports: string[]][] = [
    ["/v1/pets/1", "keys miss", "store list key_by_token", "pets miss", "store list pet"],
    // The pets were not added together, so each has a record of its own.
    ["/v1/pets/2", "keys hit", "pets miss", "store list pet"],
    ["/v1/pets/1", "keys hit", "pets hit"],
    // A pet that does not exist.
    ["/v1/pets/3", "keys hit"],
    // A page of cached pets, a cached page, and an empty one.
    ["/v1/pets", "keys hit", "pages hit"],
    ["/v1/pets", "keys hit", "pages hit"],
    ["/v1/pets?cursor=1", "keys hit", "pages hit"],
    // The newest record, and the records before it.
    [
      "/v1/pets?status=sold",
      "keys hit",
      "pages miss",
      ...Array(2).fill("store list pet_by_status"),
    ],
    ["/v1/pets?status=sold", "keys hit", "pages hit"],
    ["/v1/pets?status=sold&cursor=2", "keys hit", "pages miss", "store list pet_by_status"],
  ];
  for (const [path, ...expected] of requests) {
    const reports = (await reportsOf(path)).map((report) => report.replace("cache.reads ", ""));
    assertEquals(reports, [...FRESH_HEAD, ...expected], path);
  }
  assertEquals((await reporter(service)("/v1/pets")).at(-1), "store list pet");
});

Deno.test("A request without a key, or with a mistyped or unknown one, is reported as refused", async () => {
  await using service = await openTestService();
  const reportsOf = reporter(service);
  const read = [...FRESH_HEAD, "cache.reads keys miss", "store list key_by_token"];
  const cases: [authorization: string, reads: string[], reason: string][] = [
    ["", [], "missing"],
    ["Bearer pets_none", FRESH_HEAD, "invalid"],
    [`Bearer ${newToken(service.runtime.randomBytes)}`, read, "invalid"],
  ];
  for (const [authorization, reads, reason] of cases) {
    const expected = [...reads, `credentials.refused ${reason}`];
    assertEquals(await reportsOf("/v1/pets", { authorization }), expected);
  }
});
