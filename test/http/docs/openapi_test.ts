import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { z } from "zod";
import { schemaComponent } from "../../../src/api/component.ts";
import { API_OPERATIONS, type ApiOperation } from "../../../src/http/api_operations.ts";
import { describeInterface } from "../../../src/http/docs/openapi.ts";
import { SHOWN_TYPES } from "../../../src/http/events_query.ts";
import { DELIVERED_TYPES } from "../../../events/webhook.ts";
import { ERRORS } from "../../../src/api/errors.ts";
import { DESCRIPTION } from "../../support/assert_described.ts";
import { importTestPackage } from "../../support/import_test_package.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { openTestService } from "../../support/test_service.ts";
import { ERRORS_FILE, withErrorLists } from "./error_lists.ts";

testNeeding(permissions("env", "read", "sys"))(
  "describeInterface() satisfies the strict rules of Redocly",
  async () => {
    const { createConfig, lintFromString } = await importTestPackage("@redocly/openapi-core");
    const config = await createConfig({ extends: ["recommended-strict"] });
    const rulesBroken = async (source: string) => {
      const problems: { ruleId: string; message: string }[] = await lintFromString({
        source,
        absoluteRef: "/openapi.json",
        config,
      });
      return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
    };
    const source = describeInterface();
    assertEquals(await rulesBroken(source), []);
    const [fault] = await rulesBroken(source.replace('"operationId":"listPets",', ""));
    assertMatch(fault, /^operation-operationId: /);
  },
);

testNeeding(permissions("read"))(
  "section 4 of src/http/README.md lists every operation with its method and path",
  async () => {
    const readme = await Deno.readTextFile(new URL("../../../src/http/README.md", import.meta.url));
    const rows = [...readme.matchAll(/^\| 4\.\d+ +\| `(\w+)` +\| `(\w+) ([^`]+)`/gm)];
    const described = Object.entries(DESCRIPTION.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) =>
        `${operationId}: ${method.toUpperCase()} ${path}`
      )
    );
    const listed = rows.map(([, id, method, path]) => `${id}: ${method} ${path}`);
    assertEquals(listed.sort(), described.sort());
  },
);

testNeeding(permissions("read"))(
  "src/http/docs/errors.md lists each code, and those of each operation",
  async () => {
    const text = await Deno.readTextFile(ERRORS_FILE);
    const hint = "Run deno run --allow-read --allow-write test/http/docs/error_lists.ts";
    assertEquals(text, withErrorLists(text), hint);
    const { status, when: message } = ERRORS.pet_not_found;
    const example = JSON.stringify({ code: "pet_not_found", message, status }, null, 2);
    assertStringIncludes(text, example);
  },
);

Deno.test("the feed shows types of events that a webhook can get, and that the description has", () => {
  const { Event: feed, ...schemas } = DESCRIPTION.components.schemas;
  const described = (feed.oneOf as { $ref: string }[]).flatMap(({ $ref }) => {
    return schemas[$ref.split("/").at(-1)!].properties.type.enum as string[];
  });
  assertEquals(described.sort(), SHOWN_TYPES.toSorted());
  assertEquals(DELIVERED_TYPES.toSorted(), SHOWN_TYPES.toSorted());
});

Deno.test("describeInterface() names the configured servers", () => {
  const publicUrl = "https://animals.example/v1";
  const stagingUrl = "https://staging.animals.example/v1";
  for (const addresses of [{}, { publicUrl }, { publicUrl, stagingUrl }]) {
    const { servers } = JSON.parse(describeInterface(addresses));
    const [url = "/v1", ...others] = Object.values(addresses);
    assertEquals(servers.map(({ url }: { url: string }) => url), [url, ...others]);
  }
});

Deno.test("describeInterface() lists the errors of one operation only there", () => {
  const operations = Object.entries(DESCRIPTION.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation }))
  );
  const operationsOf = (code: string) =>
    operations.flatMap(({ operationId, responses }) => {
      const bodies = Object.values(responses).map(({ content }) => content?.["application/json"]);
      return bodies.some((body) => code in (body?.examples ?? {})) ? [operationId] : [];
    }).sort();
  const idsOf = (chosen: typeof operations) => chosen.map(({ operationId }) => operationId).sort();
  const all = idsOf(operations);
  const writes = idsOf(operations.filter(({ method }) => method !== "get"));
  const appends = writes.filter((operation) => operation !== "sendWebhook");
  const bodies = idsOf(operations.filter(({ requestBody }) => requestBody !== undefined));
  const ofPets = idsOf(operations.filter(({ path }) => path.includes("{petId}")));
  const ofCategories = idsOf(operations.filter(({ path }) => path.includes("{categoryId}")));
  const ofWebhooks = idsOf(operations.filter(({ path }) => path.includes("{webhookId}")));
  const conditional = idsOf(
    operations.filter(({ parameters }) =>
      parameters.some(({ $ref }) => $ref?.endsWith("/IfMatch"))
    ),
  );
  const some: Record<string, string[]> = {
    ...Object.fromEntries(WRITE_ERRORS.map((code) => [code, writes])),
    ...Object.fromEntries(APPEND_ERRORS.map((code) => [code, appends])),
    invalid_body: bodies,
    unsupported_media_type: bodies,
    feed_reset: ["listEvents", "resumeWebhook", "sendWebhook"],
    overloaded: [...writes, "listEvents", "listPets", "summarizePets"].sort(),
    pet_not_found: ofPets,
    pet_not_removed: ["restorePet"],
    pet_erased: ["restorePet"],
    category_not_found: ofCategories,
    webhook_not_found: ofWebhooks,
    webhooks_off: idsOf(
      operations.filter(({ method, path }) => method !== "get" && path.startsWith("/webhooks")),
    ),
    too_many_webhooks: ["addWebhook"],
    webhook_stopped: ["resumeWebhook"],
    category_name_taken: ["nameCategory"],
    too_many_categories: ["nameCategory"],
    precondition_failed: conditional,
    ...Object.fromEntries(["method_not_allowed", "not_found", "not_ready"].map((it) => [it, []])),
  };
  for (const code of Object.keys(ERRORS)) {
    assertEquals([code, ...operationsOf(code)], [code, ...some[code] ?? all]);
  }
});

/** Errors about the arrival of a body, and the right to write. */
const WRITE_ERRORS = ["body_too_large", "malformed_body", "read_only_key", "request_timeout"];

/** Errors about an Idempotency-Key, or a commit. */
const APPEND_ERRORS = [
  ...["idempotency_key_reused", "invalid_idempotency_key"],
  ...["outcome_unknown", "storage_full"],
];

Deno.test("describeInterface() gives the bounds of int64 with all their digits", () => {
  const bounds = '"minimum":-9223372036854775808,"maximum":9223372036854775807';
  assertStringIncludes(describeInterface(), bounds);
});

Deno.test("the examples of the OpenAPI document are the responses on a new store", async () => {
  await using service = await openTestService();
  const { paths } = JSON.parse(describeInterface());
  const { get, post } = paths["/pets"];
  const exampleOf = ({ content }: { content: Record<string, { example: unknown }> }) =>
    Object.values(content)[0].example;
  const added = await service.add(exampleOf(post.requestBody));
  assertEquals(await added.json(), exampleOf(post.responses[201]));
  assertEquals(await (await service.send("/v1/pets")).json(), exampleOf(get.responses[200]));
  const { content } = paths["/events"].get.responses[200];
  const [example] = exampleOf({ content }) as [{ id: string; time: string }];
  const [event] = await (await service.send("/v1/events")).json();
  assertEquals({ ...event, id: example.id, time: example.time }, example);
  assertEquals(event.id.slice(0, 17), example.id.slice(0, 17));
  const message = `event: PetCreated\ndata: ${JSON.stringify(example)}\n\n`;
  assertEquals(content["text/event-stream"].example, `id: ${example.id}\n${message}`);
  const getPet = paths["/pets/{petId}"].get;
  const got = await service.send(`/v1/pets/${getPet.parameters[0].example}`);
  assertEquals(await got.json(), exampleOf(getPet.responses[200]));
  const { patch } = paths["/pets/{petId}"];
  for (const [type, body] of Object.entries<{ example: unknown }>(patch.requestBody.content)) {
    const changed = await service.change(1, body.example, { "content-type": type });
    assertEquals(await changed.json(), exampleOf(patch.responses[200]));
  }
  const history = await service.send("/v1/pets/1/events?limit=1");
  const [, created] = await (await service.send("/v1/pets/1/events")).json();
  const [shown] = exampleOf(paths["/pets/{petId}/events"].get.responses[200]) as [typeof created];
  const { id, time, actor, actorlabel } = created;
  assertEquals({ ...shown, id, time, actor, actorlabel }, created);
  const link = DESCRIPTION.components.headers["Link.history"].example as string;
  const linkOf = (text: string) =>
    text.replace(/limit=.*>/, ">").replace("localhost:8000", "localhost");
  assertEquals(linkOf(history.headers.get("link")!), linkOf(link));
  const put = paths["/categories/{categoryId}"].put;
  const named = await service.nameCategory("7", exampleOf(put.requestBody) as object);
  assertEquals([named.status, await named.json()], [201, exampleOf(put.responses[201])]);
  const ofCategories = paths["/categories"].get.responses[200];
  assertEquals(await (await service.send("/v1/categories")).json(), exampleOf(ofCategories));
  const key = await (await service.send("/v1/key")).json();
  const keyShown = exampleOf(paths["/key"].get.responses[200]) as { expiresAt?: string };
  delete keyShown.expiresAt;
  assertEquals({ ...keyShown, id: service.keyId, label: "test" }, key);
  const location = DESCRIPTION.components.headers.Location.example as string;
  assertEquals(added.headers.get("location"), location.replace("localhost:8000", "localhost"));
});

Deno.test("two schemas with one name are a defect of the program", () => {
  const [operation] = API_OPERATIONS.filter(({ body }) => body !== undefined);
  const schema = schemaComponent("Pet", z.strictObject({}));
  const other = { ...operation, body: { ...operation.body!, schema } } as ApiOperation;
  const describe = () => describeInterface({ operations: [...API_OPERATIONS, other] });
  assertThrows(describe, Error, "Two of the schemas are named Pet");
});
