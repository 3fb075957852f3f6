import { assertEquals, assertRejects } from "@std/assert";
import { serveOnSocket } from "../support/test_each_way.ts";
import { permitted } from "../support/permitted.ts";
import { readHead } from "../../src/log/head.ts";
import { openTestService, type TestService } from "../support/test_service.ts";
import { generateTypes, TYPES } from "./generate_types.ts";
import { type PetClient, readmeClient } from "./readme_client.ts";

Deno.test({
  name: "the types of the TypeScript client equal those generated from the OpenAPI document",
  ignore: !permitted("read", "env", "sys"),
  async fn() {
    assertEquals(
      await Deno.readTextFile(TYPES),
      await generateTypes(),
      "Run: deno run -A --lock=test/deno.lock test/client/generate_types.ts",
    );
  },
});

/** Runs a client against a live service. */
async function withClient(
  use: (client: PetClient, service: TestService) => Promise<void>,
): Promise<void> {
  await using service = await openTestService();
  await using server = await serveOnSocket(service);
  const client = await readmeClient(`http://127.0.0.1:${server.port}/v1`, service.token);
  await use(client, service);
}

Deno.test({
  name: "the TypeScript client adds an animal once, however often it retries",
  ignore: !permitted("net", "read", "run", "write", "env"),
  fn: () =>
    withClient(async (client, service) => {
      const rex = { name: "Rex", categoryId: 7, status: "available" as const };
      assertEquals(await client.add("one", rex), { id: 1, ...rex });
      assertEquals(await client.add("one", rex), { id: 1, ...rex });
      assertEquals(await client.add("two", rex), { id: 2, ...rex });
      assertEquals((await readHead(service.store)).head.lastPetId, 2);
    }),
});

Deno.test({
  name: "the TypeScript client lists all animals of a status, page by page",
  ignore: !permitted("net", "read", "run", "write", "env"),
  fn: () =>
    withClient(async (client) => {
      for (let n = 1; n <= 230; n++) {
        const status = n % 2 === 0 ? "sold" as const : "pending" as const;
        await client.add(String(n), { name: `Pet ${n}`, categoryId: n, status });
      }
      const idsOf = async (status?: "sold" | "available") =>
        (await Array.fromAsync(client.list(status))).map(({ id }) => id);
      const newestFirst = Array.from({ length: 230 }, (_, index) => 230 - index);
      assertEquals(await idsOf(), newestFirst);
      assertEquals(await idsOf("sold"), newestFirst.filter((id) => id % 2 === 0));
      assertEquals(await idsOf("available"), []);
    }),
});

Deno.test({
  name: "the TypeScript client throws the code and the message of an Error",
  ignore: !permitted("net", "read", "run", "write", "env"),
  fn: () =>
    withClient(async (client) => {
      await assertRejects(
        () => client.add("one", { name: "", categoryId: 7 }),
        Error,
        'invalid_body: Field "name" must be 1 to 1000 characters long',
      );
    }),
});
