import { assertEquals, assertRejects } from "@std/assert";
import { lastPetIdOf, readHead } from "../../src/log/head.ts";
import { describeInterface } from "../../src/http/docs/openapi.ts";
import { importTestPackage, TEST_PACKAGES } from "../support/import_test_package.ts";
import { serveOnSocket } from "../support/test_each_way.ts";
import { testPermitted } from "../support/test_permitted.ts";
import { expectDone } from "../support/third_party_tools.ts";
import { openTestService } from "../support/test_service.ts";

const ROOT = new URL("../../", import.meta.url);

/** Follows the client in the file, so that its types are checked: a pet as the service has it, in JSON. */
const TYPES_OF_USERS = `
import type { Pet as OwnPet } from "${new URL("events/pet.ts", ROOT)}";
type PetOfUser = Awaited<ReturnType<ReturnType<typeof petClient>["add"]>>;
type Described = {
  [Name in keyof OwnPet]: OwnPet[Name] extends bigint | undefined ? number : OwnPet[Name];
};
export const eachIsTheOther = (one: PetOfUser, other: Described): [Described, PetOfUser] => [one, other];
`;

testPermitted("net", "read", "run", "write", "env", "sys")(
  "the TypeScript client of README.md has the described types, adds, changes, lists, follows and removes",
  async (test) => {
    await using service = await openTestService();
    await using server = serveOnSocket(service);
    const client = await readmeClient(`http://127.0.0.1:${server.port}/v1`, service.token);

    await test.step("it adds an animal once, however often it retries", async () => {
      const rex = { name: "Rex", categoryId: 7, status: "available" as const };
      assertEquals(await client.add("one", rex), { id: 1, ...rex });
      assertEquals(await client.add("one", rex), { id: 1, ...rex });
      assertEquals(await client.add("two", rex), { id: 2, ...rex });
      assertEquals(lastPetIdOf((await readHead(service.store)).head), 2);
    });

    await test.step("it lists all animals of a status, page by page", async () => {
      for (let id = 3; id <= 230; id++) {
        const status = id % 2 === 0 ? "sold" as const : undefined;
        await client.add(`pet-${id}`, { name: `Pet ${id}`, categoryId: id, status });
      }
      const idsOf = async (status?: string) => {
        const pages = await Array.fromAsync<{ pets: { id: number }[] }>(client.list(status));
        return pages.flatMap(({ pets }) => pets.map(({ id }) => id));
      };
      const newestFirst = Array.from({ length: 230 }, (_, index) => 230 - index);
      assertEquals(await idsOf(), newestFirst);
      assertEquals(await idsOf("sold"), newestFirst.filter((id) => id > 2 && id % 2 === 0));
      assertEquals(await idsOf("pending"), []);
    });

    await test.step("it changes an animal, with an ETag only if it is still the same", async () => {
      const response = await service.send("/v1/pets/1");
      const pet = await response.json();
      const etag = response.headers.get("etag")!;
      assertEquals(await client.update(1, { status: "sold" }, etag), { ...pet, status: "sold" });
      const change = () => client.update(1, { name: "Mia" }, etag);
      await assertRejects(change, Error, "precondition_failed");
      const { status: _, ...unset } = pet;
      assertEquals(await client.update(1, { status: null }), unset);
    });

    await test.step("it follows from the position of a list, with a filter, until its position is unknown", async () => {
      const next = async (batches: AsyncGenerator) => (await batches.next()).value;
      const { position } = await next(client.list());
      await client.update(1, { status: "pending" });
      const { id: _, ...rex } = await client.update(2, { status: "pending", name: "Max" });
      await client.update(4, { status: null });
      const [all, sold] = [client.follow(position), client.follow(position, { status: "sold" })];
      const batch = await next(all);
      assertEquals(batch.events.map(({ data }: { data: { id: number } }) => data.id), [1, 2, 4]);
      const previous = { name: "Rex", status: "available" };
      assertEquals(batch.events[1].data, { id: 2, ...rex, previous });
      assertEquals(await next(sold), { ...batch, events: batch.events.slice(2) });
      await client.remove(6);
      const removed = await next(all);
      assertEquals([removed.events[0].type, removed.events[0].data.id], ["PetRemoved", 6]);
      assertEquals(removed, await next(sold));
      await assertRejects(() => client.remove(6), Error, "pet_not_found");
      const unknown = position.replace(/-.*/, "-0123456789abcdef");
      await assertRejects(() => next(client.follow(unknown)), Error, "feed_reset");
    });

    await test.step("it throws the code and the message of an Error", async () => {
      const message = 'invalid_body: Field "name" must be 1 to 1000 characters long';
      await assertRejects(() => client.add("three", { name: "", categoryId: 7 }), Error, message);
    });
  },
);

/** Checks the types of the client against types generated from the OpenAPI document, and creates one. */
async function readmeClient(baseUrl: string, apiKey: string) {
  const { default: openapiTS, astToString } = await importTestPackage("openapi-typescript");
  await importTestPackage("openapi-fetch");
  const readme = await Deno.readTextFile(new URL("README.md", ROOT));
  const [, source] = /^```ts\n(import createClient from "openapi-fetch";\n[^]*?)^```$/m
    .exec(readme)!;
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/pet_client.ts`;
    const specifier = JSON.stringify(TEST_PACKAGES["openapi-fetch"]);
    const client = source.replace('"openapi-fetch"', specifier);
    await Deno.writeTextFile(path, client + TYPES_OF_USERS);
    const types = astToString(await openapiTS(describeInterface()));
    await Deno.writeTextFile(`${folder}/openapi_types.d.ts`, types);
    const check = ["check", "--quiet", "--config=deno.json", "--lock=test/deno.lock", path];
    await expectDone(Deno.execPath(), check, { cwd: ROOT, env: { NO_COLOR: "1" } });
    await Deno.writeTextFile(path, client);
    const { petClient } = await import(`file://${path}`);
    return petClient(baseUrl, apiKey);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
