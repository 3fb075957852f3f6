import { assertEquals } from "@std/assert";
import { startOnNode } from "../support/node_service.ts";
import { BUILT_PROGRAM } from "../support/programs.ts";
import { TempStore } from "../support/temp_store.ts";
import { testNeeding } from "../support/test_needing.ts";

const test = testNeeding(BUILT_PROGRAM);

test("On Node, a request whose body is not used is answered at once", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await startOnNode(temp.kvPath);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
  const headers = { "content-type": "application/json" };
  const response = await service.send("/v1/pets/1", token, {
    method: "DELETE",
    headers,
    body: "{}",
  });
  assertEquals([response.status, await response.text()], [204, ""]);
  const bodyless = await service.send("/v1/pets/1", token, { method: "DELETE" });
  assertEquals(bodyless.status, 404);
  await bodyless.body?.cancel();
});
