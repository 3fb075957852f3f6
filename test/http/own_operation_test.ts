/** An operation that the service does not have, at a path without GET. All about it follows from its value. */

import { assertEquals, assertLess, assertStringIncludes, assertThrows } from "@std/assert";
import { z } from "zod";
import { NewPet } from "../../events/pet.ts";
import { PET, PET_ID, PETS_TAG } from "../../src/animals/described_pets.ts";
import { updatePet } from "../../src/animals/write_pet.ts";
import { content, schemaComponent } from "../../src/api/component.ts";
import {
  ERRORS_OF_ALL,
  ERRORS_OF_JSON_BODIES,
  ERRORS_OF_WRITES,
} from "../../src/api/described_errors.ts";
import { HEADERS_OF_WRITTEN } from "../../src/api/described_headers.ts";
import { IDEMPOTENCY_KEY, parseIdempotencyKey } from "../../src/api/requests/idempotency_key.ts";
import { IF_MATCH, parseExpected } from "../../src/api/requests/if_match.ts";
import { parseBody } from "../../src/api/requests/parse_body.ts";
import { BODY_LIMIT_BYTES } from "../../src/runtime/service_request.ts";
import { writtenResponse } from "../../src/api/written_response.ts";
import { API_OPERATIONS, type ApiOperation } from "../../src/http/api_operations.ts";
import { describeInterface } from "../../src/http/docs/openapi.ts";
import { RouteTable } from "../../src/http/routes.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { NO_INSTRUMENTATION } from "../../src/runtime/instrumentation.ts";
import { connect } from "../support/raw_connection.ts";
import { assertRefused, serveOnSocket } from "../support/test_each_way.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const Nickname = NewPet.pick({ name: true });

const putNickname: ApiOperation = {
  id: "putNickname",
  method: "PUT",
  path: "/nicknames/{petId}",
  tag: PETS_TAG,
  summary: "Name an animal",
  description: "Gives an animal another name.",
  parameters: [PET_ID, IF_MATCH, IDEMPOTENCY_KEY],
  body: {
    description: "The name",
    schema: schemaComponent("Nickname", Nickname),
    example: { name: "Mia" },
  },
  responses: {
    200: {
      description: "The animal with its name",
      headers: HEADERS_OF_WRITTEN,
      content: content(PET, { id: 1, name: "Mia", categoryId: 7 }),
    },
  },
  errors: [
    ...ERRORS_OF_ALL,
    ...ERRORS_OF_WRITES,
    ...ERRORS_OF_JSON_BODIES,
    "pet_not_found",
    "precondition_failed",
  ],
  kind: "write",
  async prepare(deps, { request }, token) {
    const petId = Number(request.path.split("/").at(-1));
    const idempotencyKey = parseIdempotencyKey(request.headers);
    const isExpected = parseExpected(request.headers);
    const patch = parseBody(await deps.bodies.readJson(request), Nickname, Nickname);
    return async () => {
      const request = { petId, patch, token, idempotencyKey, isExpected };
      return writtenResponse(200, await updatePet(deps, request));
    };
  },
};

const OPERATIONS = [...API_OPERATIONS, putNickname];
const PATH = "/v1/nicknames/1";
const ORIGIN = "https://shop.example";

/** Sends a PUT. The client of a test service knows only the operations of the service. */
function put(
  { fetch, token }: TestService,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Response> {
  const all = {
    "authorization": `Bearer ${token}`,
    "content-type": "application/json",
    ...headers,
  };
  return fetch(new Request(`http://localhost${PATH}`, { method: "PUT", body, headers: all }));
}

Deno.test("a PUT writes with If-Match and Idempotency-Key, and its refusals store nothing", async () => {
  await using service = await openTestService({ operations: OPERATIONS });
  await service.add({ name: "Rex", categoryId: 7 });
  const read = await service.send("/v1/pets/1");
  await read.body?.cancel();
  const etag = read.headers.get("etag")!;
  const once = { "if-match": etag, "idempotency-key": "once" };
  for (const replayed of [null, "true"]) {
    const named = await put(service, '{"name":"Mia"}', once);
    assertEquals(await named.json(), { id: 1, name: "Mia", categoryId: 7 });
    const { status, headers } = named;
    assertEquals([status, headers.get("idempotency-replayed")], [200, replayed]);
  }
  const reader = await issueApiKey(service, { label: "reader", isReadOnly: true });
  const refusals: [status: number, code: string, body: string, headers?: Record<string, string>][] =
    [
      [400, "invalid_body", '{"name":""}'],
      [400, "invalid_body", '{"status":"sold"}'],
      [400, "malformed_body", "{"],
      [400, "invalid_idempotency_key", '{"name":"Max"}', { "idempotency-key": "" }],
      [401, "invalid_credentials", '{"name":"Max"}', { authorization: "Bearer pets_x" }],
      [403, "read_only_key", '{"name":"Max"}', { authorization: `Bearer ${reader.token}` }],
      [409, "idempotency_key_reused", '{"name":"Max"}', { "idempotency-key": "once" }],
      [412, "precondition_failed", '{"name":"Max"}', { "if-match": etag }],
      [413, "body_too_large", " ".repeat(BODY_LIMIT_BYTES + 1)],
      [415, "unsupported_media_type", '{"name":"Max"}', {
        "content-type": "application/merge-patch+json",
      }],
    ];
  for (const [status, code, body, headers] of refusals) {
    await assertRefused(service, () => put(service, body, headers), { status, code });
  }
});

Deno.test("a path without GET names its methods in Allow, also to scripts of another origin", async () => {
  await using service = await openTestService({ operations: OPERATIONS, corsOrigins: [ORIGIN] });
  const ask = (method: string, headers: Record<string, string> = {}) => {
    const all = { authorization: `Bearer ${service.token}`, ...headers };
    return service.fetch(new Request(`http://localhost${PATH}`, { method, headers: all }));
  };
  for (const method of ["GET", "HEAD", "POST", "PATCH", "DELETE"]) {
    const refused = await ask(method);
    await refused.body?.cancel();
    assertEquals([refused.status, refused.headers.get("allow")], [405, "PUT, OPTIONS"], method);
  }
  const options = await ask("OPTIONS");
  assertEquals([options.status, options.headers.get("allow")], [204, "PUT, OPTIONS"]);
  assertEquals(options.headers.get("accept-patch"), null);
  const preflight = await service.fetch(
    new Request(`http://localhost${PATH}`, {
      method: "OPTIONS",
      headers: { "origin": ORIGIN, "access-control-request-method": "PUT" },
    }),
  );
  const { status, headers } = preflight;
  assertEquals([status, headers.get("access-control-allow-methods")], [204, "PUT, OPTIONS"]);
});

Deno.test("metrics and ACCESS_LOG name a PUT", async () => {
  const measured: string[] = [];
  const instrumentation = {
    ...NO_INSTRUMENTATION,
    onResponse: (operation: string | undefined, status: number) =>
      void measured.push(`${operation} ${status}`),
  };
  await using service = await openTestService({
    operations: OPERATIONS,
    instrumentation,
    accessLog: true,
  });
  const refused = await put(service, '{"name":"Mia"}');
  await refused.body?.cancel();
  assertEquals(measured, ["putNickname 404"]);
  const [[, event, details]] = service.reports;
  assertEquals([event, details!.method, details!.path], ["request", "PUT", PATH]);
});

testNeeding(permissions("net"))("the server stops reading the endless body of a PUT", async () => {
  await using service = await openTestService({ operations: OPERATIONS });
  await using server = await serveOnSocket(service);
  const key = `Authorization: Bearer ${service.token}\r\n`;
  const json = "Content-Type: application/json\r\n";
  const cases: [status: number, headers: string][] = [[401, ""], [413, key + json], [415, key]];
  const limit = 64 * 1024 * 1024;
  for (const [status, headers] of cases) {
    using connection = await connect(server.port);
    const head = `PUT ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n`;
    await connection.write(`${head}${headers}\r\n`);
    assertLess(await connection.flood(300, limit), limit);
    assertStringIncludes(await connection.rest(), `HTTP/1.1 ${status} `);
  }
});

Deno.test("the description has a PUT with its body, its codes and its samples", async () => {
  await using service = await openTestService({ operations: OPERATIONS });
  const { paths, components } = await (await service.sendBare("/openapi.json")).json();
  const { put, ...others } = paths["/nicknames/{petId}"];
  assertEquals(others, {});
  assertEquals(put.operationId, "putNickname");
  assertEquals(put.requestBody.content["application/json"].schema, {
    $ref: "#/components/schemas/Nickname",
  });
  assertEquals(components.schemas.Nickname.required, ["name"]);
  const codes = ["400", "401", "403", "404", "408", "409", "412", "413", "415", "429"];
  assertEquals(Object.keys(put.responses), ["200", ...codes, "500", "503"]);
  const samples = put["x-codeSamples"].map(({ source }: { source: string }) => source);
  const called = ["curl -X PUT", 'method: "PUT"', "requests.put(", 'http.NewRequest("PUT"'];
  assertEquals(samples.length, called.length);
  for (const [index, sample] of samples.entries()) {
    assertStringIncludes(sample, called[index]);
    assertStringIncludes(sample, "http://localhost/v1/nicknames/1");
    assertStringIncludes(sample, "Mia");
  }
});

Deno.test("two operations with one id, or with one method of a path, are a defect of the program", () => {
  const withOther = (changes: Partial<typeof putNickname>) => () =>
    new RouteTable([...OPERATIONS, { ...putNickname, ...changes } as ApiOperation]);
  const wrong: [changes: Partial<typeof putNickname>, message: string][] = [
    [{ method: "DELETE" }, "Two operations have the id putNickname"],
    [{ id: "other" }, "Two operations have the method of /v1/nicknames/{petId} PUT"],
    [
      { id: "other", path: "/nicknames/{id}" },
      "Two operations have the path /v1/nicknames/{}",
    ],
  ];
  for (const [changes, message] of wrong) assertThrows(withOther(changes), Error, message);
  const named = schemaComponent("Pet", z.strictObject({}));
  const other = { ...putNickname, body: { ...putNickname.body!, schema: named } };
  const describe = () => describeInterface({ operations: [...API_OPERATIONS, other] });
  assertThrows(describe, Error, "Two of the schemas are named Pet");
});
