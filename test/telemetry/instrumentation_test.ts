import { assertEquals } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import { createService } from "../../src/service.ts";
import { RecordingInstrumentation } from "../support/recording_instrumentation.ts";
import { clientOfHandler, openTestService, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1, status: "sold" };

/** A second instance on the same store, with empty caches. Returns a function that reads a path and its counts. */
function reporter({ store, runtime, token }: TestService) {
  const instrumentation = new RecordingInstrumentation();
  const { handler } = createService({ store, runtime, report: () => {}, instrumentation });
  const client = clientOfHandler(token, handler);
  return async (path: string, headers: HeadersInit = {}) => {
    await (await client.send(path, { headers })).body?.cancel();
    const reports = instrumentation.take();
    assertEquals(reports[0], `request GET ${path.split("?")[0]}`);
    const counts = reports.filter((report) => /^(cache.reads|credentials)/.test(report));
    const isRead = reports.some((report) => /^store (?!get head)/.test(report));
    assertEquals(isRead, counts.some((count) => count.endsWith("miss")), path);
    return counts.map((count) => count.replace("cache.reads ", ""));
  };
}

Deno.test("a cache read is a miss if it reads the store, and a hit otherwise", async () => {
  await using service = await openTestService();
  for (let count = 0; count < 2; count++) assertEquals((await service.add(REX)).status, 201);
  const countsOf = reporter(service);
  const requests: [path: string, ...counts: string[]][] = [
    ["/v1/pets/1", "keys miss", "pets miss"],
    ["/v1/pets/2", "keys hit", "pets miss"],
    ["/v1/pets/1", "keys hit", "pets hit"],
    // A pet that does not exist.
    ["/v1/pets/3", "keys hit"],
    ["/v1/pets", "keys hit", "pages miss"],
    ["/v1/pets", "keys hit", "pages hit"],
    ["/v1/pets?status=sold", "keys hit", "pages miss"],
    ["/v1/pets?status=sold", "keys hit", "pages hit"],
  ];
  for (const [path, ...counts] of requests) assertEquals(await countsOf(path), counts, path);
  // Another instance changes a pet.
  assertEquals((await service.change(1, { name: "Max" })).status, 200);
  for (const path of ["/v1/pets/2", "/v1/pets"]) {
    assertEquals((await countsOf(path)).at(-1)!.split(" ")[1], "miss", path);
  }
});

Deno.test("a request without a key, or with a mistyped or unknown one, is reported as refused", async () => {
  await using service = await openTestService();
  const countsOf = reporter(service);
  const unknown = newToken(service.runtime.randomBytes);
  const cases = [["", "missing"], ["Bearer pets_none", "invalid"], [
    `Bearer ${unknown}`,
    "invalid",
  ]];
  for (const [authorization, reason] of cases) {
    const counts = await countsOf("/v1/pets", { authorization });
    assertEquals(counts.at(-1), `credentials.refused ${reason}`);
  }
});
