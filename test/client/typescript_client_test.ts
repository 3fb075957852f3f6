import { APPLICATION } from "../../src/application.ts";
import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { guides } from "../../src/http/docs/guides.ts";
import { EXAMPLE_BASE } from "../../src/api/base_path.ts";
import { describeInterface } from "../../src/http/docs/openapi.ts";
import { importTestPackage, TEST_PACKAGES } from "../support/import_test_package.ts";
import { serveOnSocket } from "../support/serve_on_socket.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";
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

testNeeding(permissions("net", "read", "run", "write", "env", "sys"))(
  "the TypeScript client of the guide has the described types, adds, reads, changes, lists, follows, removes and retries",
  async (test) => {
    await using service = await openTestService();
    await using server = await serveOnSocket(service);
    const { petClient, PetsError } = await guideModule();
    const baseUrl = `http://127.0.0.1:${server.port}/v1`;
    const client = petClient(baseUrl, service.token);

    await test.step("it adds an animal once, however often it retries", async () => {
      const rex = { name: "Rex", categoryId: 7, status: "available" as const };
      assertEquals(await client.add("one", rex), { id: 1, ...rex });
      assertEquals(await client.add("one", rex), { id: 1, ...rex });
      assertEquals(await client.add("two", rex), { id: 2, ...rex });
      assertEquals(lastPetIdOf((await readHead(APPLICATION, service.store)).head), 2);
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
      const { pet, etag } = await client.read(1);
      assertEquals((await client.read(999)).pet, undefined);
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

    await test.step("it throws the code, the status and Retry-After of an error, or the status of a proxy's", async () => {
      const message = 'invalid_body: Field "name" must be 1 to 1000 characters long';
      const error = await assertRejects(
        () => client.add("three", { name: "", categoryId: 7 }),
        Error,
      );
      assertEquals(error.message, message);
      const responses = [
        Response.json({ code: "storage_full", message: "Full", status: 503 }, AFTER_0_S),
        new Response("<h1>Bad gateway</h1>", { status: 502, statusText: "Bad gateway" }),
      ];
      const shown = [];
      for (const response of responses) {
        let sent = 0;
        const send = () => {
          sent++;
          return Promise.resolve(response.clone());
        };
        const thrown = await assertRejects(() => petClient(baseUrl, "", send).read(1), PetsError);
        const { code, message, status, retryAfter } = thrown as typeof PetsError;
        shown.push({ code, message, status, retryAfter, sent });
      }
      assertEquals(shown, [
        {
          code: "storage_full",
          message: "storage_full: Full",
          status: 503,
          retryAfter: 0,
          sent: 5,
        },
        { code: "", message: ": 502 Bad gateway", status: 502, retryAfter: undefined, sent: 1 },
      ]);
    });

    await test.step("it repeats each request after a lost response and a 503, and nothing happens twice", async () => {
      let lost = 0;
      const unsteady = async (request: Request) => {
        const number = lost++ % 3;
        if (number === 1) return new Response("", AFTER_0_S);
        const response = await fetch(request);
        if (number === 2) return response;
        await response.body?.cancel();
        throw new TypeError("The connection was lost");
      };
      const { position } = (await service.heads.fresh()).head;
      const lossy = petClient(baseUrl, service.token, unsteady);
      const { id } = await lossy.add("lossy", { name: "Rex", categoryId: 7 });
      const { etag } = await lossy.read(id);
      const sold = await lossy.update(id, { status: "sold" }, etag);
      assertEquals(sold, { id, name: "Rex", categoryId: 7, status: "sold" });
      await lossy.remove(id);
      assertEquals((await service.heads.fresh()).head.position, position + 3);
      assertEquals(lost, 12);
    });
  },
);

const AFTER_0_S = { status: 503, headers: { "retry-after": "0" } };

/** Imports the client, after a check of its types against those generated from the OpenAPI document, also in strict projects. */
async function guideModule() {
  const { default: openapiTS, astToString } = await importTestPackage("openapi-typescript");
  await importTestPackage("openapi-fetch");
  const { description } = guides(EXAMPLE_BASE).find(({ name }) =>
    name === "A client in TypeScript"
  )!;
  const [, source] = /^```typescript\n([^]*?)^```$/m.exec(description)!;
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/pet_client.ts`;
    const specifier = JSON.stringify(TEST_PACKAGES["openapi-fetch"]);
    // A hundredth of its waits, which are some seconds together.
    assertStringIncludes(source, "seconds * 1_000");
    const client = source.replace('"openapi-fetch"', specifier)
      .replace("seconds * 1_000", "seconds * 10");
    const types = astToString(await openapiTS(describeInterface()));
    await Deno.writeTextFile(`${folder}/openapi_types.d.ts`, types);
    const strict = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ compilerOptions: strict }));
    const checks = [
      [client + TYPES_OF_USERS, "--config=deno.json", "--lock=test/deno.lock"],
      [client, `--config=${folder}/deno.json`, "--no-lock"],
    ];
    for (const [text, ...flags] of checks) {
      await Deno.writeTextFile(path, text);
      const check = ["check", "--quiet", ...flags, path];
      await expectDone(Deno.execPath(), check, { cwd: ROOT, env: { NO_COLOR: "1" } });
    }
    return await import(`file://${path}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
