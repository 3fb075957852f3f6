import { assertEquals } from "@std/assert";
import { newToken } from "../../src/projections/api_key.ts";
import { createService } from "../../src/service.ts";
import { RecordingInstrumentation } from "../support/recording_instrumentation.ts";
import { clientOfHandler, openTestService, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1, status: "sold" };
const FRESH_HEAD = ["head fresh", "store get head"];
/** The lists of all statuses. */
const READ_PET = Array<string>(4).fill("store get pet");
const READ_PETS = Array<string>(4).fill("store list pet");

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

Deno.test("A service reports an addition and a change to its instrumentation, from the request to the commit", async () => {
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
  assertEquals((await service.change(1, { status: "available" })).status, 200);
  assertEquals(instrumentation.take(), [
    "request PATCH /v1/pets/1",
    "append",
    "restore undefined",
    "restore 4",
    "cache.reads keys hit",
    "cache.reads pets miss",
    ...READ_PET,
    "commit of 1 for 4",
    "store commit",
    "committed PetUpdated",
  ]);
});

Deno.test("A cache read is a miss if it reads the store, and a hit otherwise", async () => {
  await using service = await openTestService();
  for (let count = 0; count < 2; count++) assertEquals((await service.add(REX)).status, 201);
  const reportsOf = reporter(service);
  /** Requests in this order, with the caches that they read, and the reads of the store. */
  const requests: [path: string, ...reports: string[]][] = [
    ["/v1/pets/1", "keys miss", "store list key_by_token", "pets miss", ...READ_PET],
    ["/v1/pets/2", "keys hit", "pets miss", ...READ_PET],
    ["/v1/pets/1", "keys hit", "pets hit"],
    // A pet that does not exist.
    ["/v1/pets/3", "keys hit"],
    // A page of cached pets, a cached page, and an empty one.
    ["/v1/pets", "keys hit", "pages hit"],
    ["/v1/pets", "keys hit", "pages hit"],
    ["/v1/pets?cursor=1", "keys hit", "pages hit"],
    ["/v1/pets?status=sold", "keys hit", "pages miss", "store list pet", "store get head"],
    ["/v1/pets?status=sold", "keys hit", "pages hit"],
    ["/v1/pets?status=sold&cursor=2", "keys hit", "pages miss", "store list pet"],
  ];
  const assertReports = async ([path, ...expected]: typeof requests[0]) => {
    const reports = (await reportsOf(path)).map((report) => report.replace("cache.reads ", ""));
    assertEquals(reports, [...FRESH_HEAD, ...expected], path);
  };
  for (const request of requests) await assertReports(request);
  // The caches follow a change of another instance: its line is read, but no pet.
  assertEquals((await service.change(1, { name: "Max" })).status, 200);
  await assertReports(["/v1/pets/1", "keys hit", "store list ~log", "pets hit"]);
  await assertReports(["/v1/pets?status=sold", "keys hit", "pages hit"]);
  const unread = await reporter(service)("/v1/pets");
  assertEquals(unread.slice(-1 - READ_PETS.length), ["cache.reads pages miss", ...READ_PETS]);
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
