import { serviceRequestOf } from "../support/fetch_from.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { originOfRequest, RouteTable } from "../../src/http/routes.ts";
import { API_OPERATIONS, type ApiOperation } from "../../src/http/api_operations.ts";
import { type PublicDeps, publicOperations } from "../../src/http/public_operations.ts";
import { openTestService } from "../support/test_service.ts";

const ROUTES = new RouteTable([
  ...API_OPERATIONS,
  // No operation is called.
  ...publicOperations({ operations: API_OPERATIONS } as unknown as PublicDeps),
]);

Deno.test("RouteTable.find() finds the route of a path and no other, in linear time", () => {
  for (const id of ["1", "x", "%2F", "{petId}", "..", " "]) {
    assertEquals(ROUTES.find(`/v1/pets/${id}`)?.path, "/v1/pets/{petId}");
  }
  for (const id of ["1", "x", "{petId}", " ", "events"]) {
    assertEquals(ROUTES.find(`/v1/pets/${id}/events`)?.path, "/v1/pets/{petId}/events");
  }
  const unknown = [
    "",
    "/v1/pets/1/x",
    "/v1/pets//events",
    "/v1/pets/1/events/",
    "/v1/x/1/events",
    "//",
    "/docs//",
    "/docs/x/",
    "/docs/a/b",
    "/healthz/",
  ];
  // In quadratic time, the last one would take hours.
  unknown.push(
    "v1/pets/1",
    "/V1/pets",
    "/pets",
    `/v1/${"a".repeat(5_000_000)}/`,
    "/".repeat(5_000_000),
  );
  for (const path of unknown) assertEquals(ROUTES.find(path), undefined);
});

Deno.test("every route is served, without a key exactly if it is public, and names its methods", async () => {
  await using service = await openTestService();
  for (const { path, isPublic, operations, allow } of ROUTES.routes) {
    const file = path.startsWith("/docs") ? "reference.js" : "main.js";
    const actual = path.replace("{file}", file).replace(/\{\w+\}/, "1");
    // Some paths are only for a browser.
    const headers = { accept: "text/html" };
    const bare = await service.sendBare(actual, { headers });
    await bare.body?.cancel();
    assertEquals(bare.status === 401, !isPublic, path);
    const found = await service.send(actual, { headers });
    assert(!(await found.text()).startsWith(`{"code":"not_found"`), path);
    const others = ["POST", "PUT", "PATCH", "DELETE"].filter((method) => !operations.has(method));
    for (const method of [...others, "OPTIONS"]) {
      const answer = await service.send(actual, { method, headers });
      await answer.body?.cancel();
      const expected = method === "OPTIONS" ? 204 : 405;
      assertEquals([answer.status, answer.headers.get("allow")], [expected, allow], path);
    }
  }
});

const originFor = (url: string, host?: string) =>
  originOfRequest(
    serviceRequestOf(new Request(url, host === undefined ? {} : { headers: { host } })),
    ROUTES,
  );

Deno.test("the origin is the scheme of the URL and the Host, or else the authority of the URL", () => {
  assertEquals(originFor("https://a.example/v1/pets", "a.example:8443"), "https://a.example:8443");
  assertEquals(originFor("http://a.example:8000/v1/pets?x=/"), "http://a.example:8000");
});

/** An operation that the service does not have, at a path without GET. */
const OTHER: ApiOperation = {
  ...API_OPERATIONS.find(({ id }) => id === "nameCategory")!,
  id: "putNickname",
  path: "/nicknames/{petId}",
};

Deno.test("a path without GET names its methods in Allow, also to scripts of another origin", async () => {
  const operations = [...API_OPERATIONS, OTHER];
  const origin = "https://shop.example";
  await using service = await openTestService({ operations, corsOrigins: [origin] });
  // The client of a test service knows only the operations of the service.
  const ask = async (method: string, more: Record<string, string> = {}) => {
    const headers = { authorization: `Bearer ${service.token}`, ...more };
    const request = new Request("http://localhost/v1/nicknames/1", { method, headers });
    const response = await service.fetch(request);
    await response.body?.cancel();
    return response;
  };
  for (const method of ["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"]) {
    const { status, headers } = await ask(method);
    const expected = method === "OPTIONS" ? 204 : 405;
    assertEquals([status, headers.get("allow")], [expected, "PUT, OPTIONS"], method);
  }
  const { headers } = await ask("OPTIONS", { origin, "access-control-request-method": "PUT" });
  assertEquals(headers.get("access-control-allow-methods"), "PUT, OPTIONS");
});

Deno.test("two operations with one id, or with one method of a path, are a defect of the program", () => {
  const wrong: [changes: Partial<ApiOperation>, message: string][] = [
    [{ method: "DELETE" }, "Two operations have the id putNickname"],
    [{ id: "other" }, "Two operations have the method of /v1/nicknames/{petId} PUT"],
    [{ id: "other", path: "/nicknames/{id}" }, "Two operations have the path /v1/nicknames/{}"],
  ];
  for (const [changes, message] of wrong) {
    const other = { ...OTHER, ...changes } as ApiOperation;
    assertThrows(() => new RouteTable([...API_OPERATIONS, OTHER, other]), Error, message);
  }
});
