import { assertEquals } from "@std/assert";
import { openTestService } from "../test_service.ts";

Deno.test("createPet answers 201 with the pet and the id that it was given", async () => {
  await using service = await openTestService();
  const response = await service.add({ name: "Rex", categoryId: 1 });
  assertEquals(response.status, 201);
  assertEquals(response.headers.get("location"), "/v1/pets/1");
  assertEquals(await response.json(), { id: 1, name: "Rex", categoryId: 1 });
});
