import { assert, assertEquals, assertThrows } from "@std/assert";
import { HttpError } from "../../src/http/errors.ts";
import {
  BASE_PATH,
  findRoute,
  operationOf,
  originOfRequest,
  requestTarget,
  ROUTES,
} from "../../src/http/routes.ts";
import { DESCRIPTION } from "../support/assert_described.ts";
import { assertError } from "../support/test_each_way.ts";
import { openTestService } from "../support/test_service.ts";

Deno.test("findRoute() finds the route of a path and no other", () => {
  const pathOf = (path: string) => findRoute(path)?.path;
  for (const path of ["/", "/docs", "/docs/", "/healthz", "/openapi.json", "/v1", "/v1/pets"]) {
    assertEquals(pathOf(path), path);
  }
  for (const id of ["1", "x", "%2F", "{petId}", "..", " "]) {
    assertEquals(pathOf(`/v1/pets/${id}`), "/v1/pets/{petId}");
  }
  assertEquals(pathOf("/docs/page.css"), "/docs/{file}");
  assertEquals(pathOf("/v1/"), "/v1/");
  const unknown = ["", "/v1/pets/", "/v1/pets/1/", "/v1/pets/1/x", "/v1//pets"];
  unknown.push(
    "/pets",
    "/V1/pets",
    "//",
    "/docs//",
    "/docs/x/",
    "/docs/a/b",
    "/healthz/",
    "v1/pets/1",
  );
  for (const path of unknown) assertEquals(findRoute(path), undefined, path);
});

Deno.test("operationOf() uses the operation of GET for HEAD, and knows no other method", () => {
  const pets = findRoute("/v1/pets")!;
  assertEquals(operationOf(pets, "GET"), "listPets");
  assertEquals(operationOf(pets, "HEAD"), "listPets");
  assertEquals(operationOf(pets, "POST"), "createPet");
  for (const method of ["PUT", "get", "OPTIONS", "constructor", "__proto__"]) {
    assertEquals(operationOf(pets, method), undefined);
  }
  assertEquals(operationOf(findRoute("/v1/pets/1")!, "POST"), undefined);
});

Deno.test("the OpenAPI description has exactly the operations of the routes under /v1", () => {
  const described = Object.entries(DESCRIPTION.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => [method, BASE_PATH + path, operationId])
  );
  const routed = ROUTES.filter(({ isPublic }) => !isPublic).flatMap(({ path, operations }) =>
    Object.entries(operations).map(([method, operation]) => [method.toLowerCase(), path, operation])
  );
  assertEquals(described, routed);
});

Deno.test("every route is served, without a key exactly if it is public, and names its methods", async () => {
  await using service = await openTestService();
  const page = await (await service.sendBare("/docs")).text();
  const [, file] = /src="docs\/([^"]+)"/.exec(page)!;
  for (const { path, isPublic, allow } of ROUTES) {
    const actual = path.replace("{petId}", "1").replace("{file}", file);
    // Some paths are only for a browser.
    const headers = { accept: "text/html" };
    const bare = await service.sendBare(actual, { headers });
    await bare.body?.cancel();
    assertEquals(bare.status === 401, !isPublic, path);
    const found = await service.send(actual, { headers });
    assert(!(await found.text()).startsWith(`{"code":"not_found"`), path);
    const refused = await service.send(actual, { method: "DELETE", headers });
    await refused.body?.cancel();
    assertEquals([refused.status, refused.headers.get("allow")], [405, allow], path);
  }
});

Deno.test("a file that the docs do not have gets 404, with and without a key", async () => {
  await using service = await openTestService();
  const message = /^The path does not exist: use \/docs$/;
  for (const path of ["/docs/unknown.css", "/docs/unknown"]) {
    for (const send of [service.sendBare, service.send]) {
      await assertError(await send(path), { status: 404, code: "not_found", message });
    }
  }
});

const originFor = (url: string, host?: string) =>
  originOfRequest(
    new Request(url, host === undefined ? {} : { headers: { host } }),
    "http://none/",
  );

Deno.test("the origin is the scheme of the URL and the Host, or else the authority of the URL", () => {
  assertEquals(originFor("http://a.example/v1/pets", "a.example"), "http://a.example");
  assertEquals(originFor("https://a.example/v1/pets", "a.example:8443"), "https://a.example:8443");
  assertEquals(originFor("http://a.example:8000/v1/pets?x=/"), "http://a.example:8000");
  assertEquals(originFor("http://[::1]:8000?x"), "http://[::1]:8000");
});

Deno.test("a missing Host is refused, and a Host or an authority that is not a host name", () => {
  for (const host of ["", "a/b", "a?b", "a#b", "me@a", "a b", "a<b", "a:b", "a:123456"]) {
    assertThrows(() => originFor("http://a.example/", host), HttpError, "must be one host name");
  }
  assertThrows(() => originFor("http://none/v1/pets"), HttpError, "is missing");
});

Deno.test("requestTarget() splits a URL into its path and its query", () => {
  const cases = [
    ["http://a/v1/pets?limit=1", "/v1/pets", "limit=1"],
    ["http://a/v1/pets?", "/v1/pets", ""],
    ["http://a/v1/pets", "/v1/pets", ""],
    ["http://a?x=/y", "/", "x=/y"],
    ["http://a", "/", ""],
  ];
  for (const [url, path, search] of cases) assertEquals(requestTarget(url), { path, search }, url);
});
