import { assertEquals, assertMatch } from "@std/assert";
import { applyIfNoneMatch, ENTITY_TAG_PATTERN, entityTag } from "../../src/api/conditional_read.ts";
import { testEachWay } from "../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 1 };
const MAX = '{"id":1,"name":"Max","categoryId":1}';

/** Headers that a 304 lacks, or that differ between responses. */
const OF_ONE_RESPONSE = ["content-length", "content-type", "date", "x-request-id"];

testEachWay(
  "If-None-Match with the current tag gets 304 with the headers of 200",
  async ({ add, nameCategory, send }) => {
    await nameCategory("7", "Dogs");
    for (let count = 0; count < 3; count++) await add(REX);
    const lists = ["/v1/pets", "/v1/pets?limit=1", "/v1/pets?name=re&limit=1", "/v1/categories"]
      .concat("/v1/pets/2/events", "/v1/categories/7/events");
    for (const path of [...lists, "/v1/pets/2", "/v1/categories/7", "/v1/key"]) {
      const held = await send(path);
      const body = await held.text();
      const tag = held.headers.get("etag")!;
      assertMatch(tag, ENTITY_TAG_PATTERN);
      assertEquals(held.headers.get("cache-control"), "private, no-cache");
      const vary = lists.includes(path) ? "accept-encoding" : null;
      assertEquals([path, held.headers.get("vary")], [path, vary]);
      const ask = (field: string, method = "GET") =>
        send(path, { method, headers: { "if-none-match": field } });
      const ofProxy = `W/"a", "${tag.slice(1, -1)}-br"`;
      const fields = [
        tag,
        `W/${tag}`,
        `"a", ${tag}`,
        `W/"a,b",W/${tag} , "c"`,
        "*",
        " * ",
        ofProxy,
      ];
      for (const field of fields) {
        for (const method of ["GET", "HEAD"]) {
          const response = await ask(field, method);
          assertEquals([response.status, await response.text()], [304, ""], field);
          assertEquals(response.headers.get("content-type"), null);
          assertEquals(lastingHeaders(response), lastingHeaders(held));
        }
      }
      const bare = tag.slice(1, -1);
      for (const field of ['"a"', `"${bare}0"`, bare, `W/"a", "b"`, "", `"*"`]) {
        const response = await ask(field);
        assertEquals([response.status, await response.text()], [200, body], field);
      }
    }
  },
);

Deno.test("If-None-Match with many spaces takes linear time", () => {
  const response = { status: 200, headers: { etag: entityTag("") }, body: null };
  // In quadratic time, this would take minutes.
  const headers = new Headers({ "if-none-match": `"a"${" ".repeat(1_000_000)}"b"` });
  assertEquals(applyIfNoneMatch(response, { method: "GET", headers }), response);
});

testEachWay("no response but a successful read may be cached or become 304", async (service) => {
  const { add, change, send, sendBare } = service;
  const any = { headers: { "if-none-match": "*" } };
  const others = [
    await add(REX, any.headers),
    // The tag of the animal after the change.
    await change(1, { name: "Max" }, { "if-none-match": entityTag(MAX) }),
    await change(1, { name: "Rex" }, any.headers),
    await send("/v1/pets/2", any),
    await send("/v1/pets?limit=0", any),
    await send("/v1/pets", { method: "PUT", ...any }),
    await sendBare("/v1/pets", any),
    await add("{", any.headers),
  ];
  assertEquals(others.map(({ status }) => status), [201, 200, 412, 404, 400, 405, 401, 400]);
  for (const { body, headers, ok } of others) {
    assertEquals([headers.get("cache-control"), headers.has("etag")], ["no-store", ok]);
    await body?.cancel();
  }
});

function lastingHeaders({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => !OF_ONE_RESPONSE.includes(name));
}
