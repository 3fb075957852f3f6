/** The operations of categories, as a client sees them. */

import { assertEquals } from "@std/assert";
import { readPages } from "../support/read_pages.ts";
import { assertRefused, testEachWay as test, WAYS } from "../support/test_each_way.ts";
import { testNeeding } from "../support/test_needing.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";

/** On the handler alone, with what its store needs. */
const testOnHandler = testNeeding(...WAYS[0].needs);

/** The status and the exact body of a response. */
async function answer(responding: Promise<Response>): Promise<[status: number, text: string]> {
  const response = await responding;
  return [response.status, await response.text()];
}

async function etagOf({ send }: Pick<TestService, "send">, id: string): Promise<string> {
  const response = await send(`/v1/categories/${id}`);
  await response.body?.cancel();
  return response.headers.get("etag")!;
}

test("a name has 1 to 100 code points, is well-formed, and not only blanks", async (service) => {
  const { nameCategory } = service;
  const names = ["a", "🐈".repeat(100), " a ", '"\\\n\u2028'];
  for (const [index, name] of names.entries()) {
    const [status, text] = await answer(nameCategory(BigInt(index), name));
    assertEquals([status, JSON.parse(text).name], [201, name]);
  }
  const refused = ["", " ", "\t\u2003\n", "a".repeat(101), "🐈".repeat(101)]
    .map((name) => JSON.stringify({ name }))
    .concat('{"name":"\\ud800"}', '{"name":7}', '{"name":null}', "{}", '{"name":"a","id":7}');
  for (const body of refused) {
    const send = () =>
      service.send("/v1/categories/7", {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body,
      });
    await assertRefused(service, send, { status: 400, code: "invalid_body" });
  }
});

test("no two categories have one name, without regard to case and to what nobody sees; a name that was left is free", async (service) => {
  const { nameCategory, removeCategory } = service;
  const taken = { status: 409, code: "category_name_taken", message: /^Category 1 has this name/ };
  await nameCategory("1", "Straße");
  for (
    const name of ["Straße", "STRASSE", "straẞe", "ＳＴＲＡＳＳＥ", "\u2066Stra\u00adße\u200b"]
  ) {
    await assertRefused(service, () => nameCategory("2", name), taken);
  }
  assertEquals(await answer(nameCategory("1", "STRASSE")), [200, '{"id":1,"name":"STRASSE"}']);
  assertEquals((await nameCategory("2", "Strassen")).status, 201);
  await assertRefused(service, () => nameCategory("2", "strasse"), taken);
  assertEquals((await nameCategory("1", "Wege")).status, 200);
  assertEquals((await nameCategory("2", "strasse")).status, 200);
  assertEquals((await removeCategory("2")).status, 204);
  assertEquals((await nameCategory("3", "Strasse")).status, 201);
});

test("If-Match decides about the name that the client has read; a category without a name has no ETag", async (service) => {
  const { nameCategory, removeCategory } = service;
  const failed = { status: 412, code: "precondition_failed" };
  const unnamed = { ...failed, message: /has no name/ };
  for (const tag of ["*", '"a"']) {
    await assertRefused(service, () => nameCategory("7", "Dogs", { "if-match": tag }), unnamed);
  }
  await nameCategory("7", "Dogs");
  const first = await etagOf(service, "7");
  assertEquals((await nameCategory("7", "Cats", { "if-match": `W/${first}` })).status, 200);
  await assertRefused(service, () => nameCategory("7", "Cats", { "if-match": first }), failed);
  await assertRefused(service, () => removeCategory("7", { "if-match": first }), failed);
  assertEquals((await removeCategory("7", { "if-match": await etagOf(service, "7") })).status, 204);
});

test("If-None-Match names a category only if it has no name, or none of these", async (service) => {
  const { nameCategory, removeCategory } = service;
  const ifNone = { "if-none-match": "*" };
  const failed = { status: 412, code: "precondition_failed", message: /has a name already/ };
  assertEquals((await nameCategory("7", "Dogs", ifNone)).status, 201);
  for (const name of ["Cats", "Dogs"]) {
    await assertRefused(service, () => nameCategory("7", name, ifNone), failed);
  }
  const etag = await etagOf(service, "7");
  for (const tags of [etag, `"a", W/${etag}`]) {
    const condition = { "if-none-match": tags };
    await assertRefused(service, () => nameCategory("7", "Cats", condition), failed);
    await assertRefused(service, () => removeCategory("7", condition), failed);
  }
  await assertRefused(service, () => removeCategory("7", ifNone), failed);
  const both = { "if-match": etag, "if-none-match": "*" };
  await assertRefused(service, () => nameCategory("7", "Cats", both), failed);
  assertEquals((await nameCategory("7", "Cats", { "if-none-match": '"a"' })).status, 200);
  assertEquals((await removeCategory("7", { "if-none-match": etag })).status, 204);
  const gone = { status: 404, code: "category_not_found" };
  await assertRefused(service, () => removeCategory("7", ifNone), gone);
  assertEquals((await nameCategory("7", "Owls", ifNone)).status, 201);
});

test("of several names for a category at once, If-None-Match lets one pass", async (service) => {
  const names = ["Dogs", "Cats", "Owls", "Rats", "Bats", "Hens", "Pigs", "Emus"];
  const statuses = await Promise.all(
    names.map(async (name) =>
      (await answer(service.nameCategory("7", name, { "if-none-match": "*" })))[0]
    ),
  );
  assertEquals(statuses.toSorted(), [201, ...Array(names.length - 1).fill(412)]);
  const kept = names[statuses.indexOf(201)];
  assertEquals(await service.listCategories(), [{ id: 7n, name: kept }]);
});

test("an Idempotency-Key gives the outcome of a name with If-None-Match again", async ({ nameCategory }) => {
  const once = { "idempotency-key": "once", "if-none-match": "*" };
  for (const replayed of [null, "true"]) {
    const named = await nameCategory("7", "Dogs", once);
    assertEquals([named.status, await named.text()], [201, '{"id":7,"name":"Dogs"}']);
    assertEquals(named.headers.get("idempotency-replayed"), replayed);
  }
});

test("an Idempotency-Key is used once, for one request, also of an animal", async (service) => {
  const { add, nameCategory, removeCategory } = service;
  const once = { "idempotency-key": "once" };
  const reused = { status: 409, code: "idempotency_key_reused" };
  assertEquals((await nameCategory("7", "Dogs", once)).status, 201);
  await nameCategory("7", "Cats");
  const repeated = await nameCategory("7", "Dogs", once);
  assertEquals(repeated.headers.get("idempotency-replayed"), "true");
  assertEquals([repeated.status, await repeated.text()], [201, '{"id":7,"name":"Dogs"}']);
  for (
    const other of [
      () => nameCategory("7", "Rats", once),
      () => nameCategory("8", "Dogs", once),
      () => removeCategory("7", once),
      () => add({ name: "Dogs", categoryId: 7 }, once),
    ]
  ) await assertRefused(service, other, reused);
  const removal = { "idempotency-key": "removal" };
  assertEquals((await removeCategory("7", removal)).status, 204);
  assertEquals((await removeCategory("7", removal)).headers.get("idempotency-replayed"), "true");
  await assertRefused(service, () => nameCategory("7", "Dogs", removal), reused);
  // A name that is the same adds no event, so nothing remembers it.
  await nameCategory("9", "Owls");
  const same = { "idempotency-key": "same" };
  assertEquals((await nameCategory("9", "Owls", same)).status, 200);
  await nameCategory("9", "Bats");
  assertEquals((await nameCategory("9", "Owls", same)).headers.get("idempotency-replayed"), null);
});

/** An event of the history or of the feed. */
interface CategoryEvent {
  id: string;
  type: string;
  subject: string;
  actor?: string;
  actorlabel?: string;
  dataschema: string;
  data: { name: string; previous?: { name: string } };
}

test("the history of a category says who gave and took its names, also before it was removed", async (service) => {
  const { nameCategory, removeCategory, send } = service;
  await nameCategory("7", "Dogs");
  await nameCategory("8", "Owls");
  await nameCategory("7", "Cats");
  await removeCategory("7");
  await nameCategory("7", "Rats");
  const feed: CategoryEvent[] = await (await send("/v1/events")).json();
  const ofSeven = feed.filter(({ subject }) => subject === "categories/7").reverse();
  assertEquals(ofSeven.map(({ type, data }) => [type, data.name, data.previous?.name]), [
    ["CategoryNamed", "Rats", undefined],
    ["CategoryRemoved", "Cats", undefined],
    ["CategoryNamed", "Cats", "Dogs"],
    ["CategoryNamed", "Dogs", undefined],
  ]);
  assertEquals(ofSeven[0].dataschema, "urn:animal-store:category-named:6.0");
  const removed: CategoryEvent[] = await (await send("/v1/events?type=CategoryRemoved")).json();
  assertEquals(removed, [ofSeven[1]]);
  const { id: keyId } = await (await send("/v1/key")).json();
  const path = "/v1/categories/7/events?limit=3";
  const pages = await Array.fromAsync(readPages<CategoryEvent>(service, path));
  const shown = pages.flatMap(({ items }) => items);
  assertEquals(shown, ofSeven.map((event) => ({ ...event, actor: keyId, actorlabel: "test" })));
  const ofOther = `/v1/categories/8/events?cursor=${ofSeven[1].id}`;
  await assertRefused(service, () => send(ofOther), { status: 400, code: "invalid_parameter" });
});

testOnHandler("another instance shows and decides on each name at once", async () => {
  await using service = await openTestService();
  const other = otherInstance(service);
  for (let number = 0; number < 5; number++) {
    const [here, there] = number % 2 === 0 ? [service, other] : [other, service];
    assertEquals(await there.listCategories(), await here.listCategories());
    await here.nameCategory("7", `Name ${number}`);
    assertEquals((await there.listCategories()).map(({ name }) => name), [`Name ${number}`]);
    assertEquals((await there.nameCategory("8", `NAME ${number}`)).status, 409);
    const [status, text] = await answer(there.nameCategory("7", `Name ${number}`));
    assertEquals([status, JSON.parse(text).name], [200, `Name ${number}`]);
  }
  // Of two that want one name at the same moment, one gets it.
  const both = Promise.all([service.nameCategory("1", "Owls"), other.nameCategory("2", "owls")]);
  const statuses = (await service.runtime.settle(both)).map(({ status }) => status);
  assertEquals(statuses.sort(), [201, 409]);
});
