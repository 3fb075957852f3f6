import { assert, assertEquals } from "@std/assert";
import { NewPet } from "../../events/pet.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { newToken } from "../../src/projections/api_key.ts";
import { ROUTES } from "../../src/http/routes.ts";
import type { ErrorCode, HTTP_ERRORS } from "../../src/http/errors.ts";
import { BODY_LIMIT_BYTES, BODY_LIMIT_MS } from "../../src/http/requests/request_body.ts";
import { HOLD_BACK_MS } from "../../src/http/limits/rate_limiter.ts";
import { faultyStore } from "../support/faulty_store.ts";
import { openTestService, type TestService } from "../support/test_service.ts";
import { assertError } from "../support/test_each_way.ts";

interface Case {
  send: (service: TestService) => Promise<Response>;
  code: ErrorCode;
  /** The whole message. */
  message: string;
  /** By default a service with a live key. */
  open?: () => Promise<TestService>;
}

const STATUSES: Partial<Record<ErrorCode, number>> = {
  malformed_request: 400,
  malformed_body: 400,
  invalid_body: 400,
  invalid_parameter: 400,
  invalid_idempotency_key: 400,
  missing_credentials: 401,
  invalid_credentials: 401,
  read_only_key: 403,
  pet_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  not_ready: 503,
  shutting_down: 503,
};

const REX = { name: "Rex", categoryId: 1 };
const USE_BEARER = "Authorization: Bearer <API_KEY>";
const MISTYPED =
  "The API key is mistyped or cut off: a key is pets_ and 72 digits and letters from a to f";
const KEYLESS = "; /docs, /openapi.json, /healthz and /readyz need no key";
const FIELDS = `the fields are ${Object.keys(NewPet.shape).join(", ")}`;

/** The messages that clients get. Four are of the domain: of keys, and of the fields of an animal. */
const CASES: Record<
  keyof typeof HTTP_ERRORS | "malformedToken" | "unknownToken" | "readOnlyKey" | "invalidFields",
  Case[]
> = {
  missingHost: [{
    send: ({ handler }) =>
      handler(new Request("http://localhost/v1/pets"), {
        clientAddress: () => "",
        urlWithoutHost: "http://localhost/",
      }),
    code: "malformed_request",
    message: "The Host header is missing",
  }],
  malformedHost: [
    "localhost/healthz?",
    "a b",
    "me@localhost",
    "<script>",
  ].map((host) => ({
    send: ({ send }) => send("/v1/pets", { headers: { host } }),
    code: "malformed_request",
    message: "The Host header must be one host name with or without a port",
  })),
  malformedContentLength: [{
    send: ({ add }) => add(REX, { "content-length": "1, 2" }),
    code: "malformed_request",
    message: "Content-Length must be one whole number",
  }],

  missingKey: [{
    send: ({ sendBare }) => sendBare("/v1/pets"),
    code: "missing_credentials",
    message: `An API key is required: ${USE_BEARER}`,
  }],
  keyInOtherHeader: ["X-API-Key", "Api-Key"].map((name) => ({
    send: ({ sendBare, token }) => sendBare("/v1/pets", { headers: { [name]: token } }),
    code: "missing_credentials",
    message: `The API key is not read from ${name}: send it as ${USE_BEARER}`,
  })),
  keyWithoutScheme: [{
    send: ({ sendBare, token }) => sendBare("/v1/pets", { headers: { authorization: token } }),
    code: "missing_credentials",
    message: `The Authorization header has a key without "Bearer" before it: send ${USE_BEARER}`,
  }],
  otherScheme: ["Basic cGV0czpwZXRz", "Token pets_0", "Digest a=b, c=d"].map((authorization) => ({
    send: ({ sendBare }) => sendBare("/v1/pets", { headers: { authorization } }),
    code: "missing_credentials",
    message: `The scheme of the Authorization header is not Bearer: send ${USE_BEARER}`,
  })),
  schemeWithoutKey: ["Bearer", "bearer "].map((authorization) => ({
    send: ({ sendBare }) => sendBare("/v1/pets", { headers: { authorization } }),
    code: "missing_credentials",
    message: `The Authorization header has no API key after "Bearer": send ${USE_BEARER}`,
  })),
  repeatedScheme: ["Bearer Bearer", "bearer  BEARER"].map((schemes) => ({
    send: ({ sendBare, token }) =>
      sendBare("/v1/pets", { headers: { authorization: `${schemes} ${token}` } }),
    code: "invalid_credentials",
    message: `The Authorization header has "Bearer" twice: send ${USE_BEARER}`,
  })),
  quotedKey: [`"`, "'"].map((quote) => ({
    send: ({ sendBare, token }) =>
      sendBare("/v1/pets", { headers: { authorization: `Bearer ${quote}${token}${quote}` } }),
    code: "invalid_credentials",
    message: `The API key is in quotes: send ${USE_BEARER} without quotes`,
  })),
  malformedToken: [
    (token: string) => token.slice(0, -1),
    (token: string) => `${token}0`,
    (token: string) => token.slice(0, -1) + (token.endsWith("0") ? "1" : "0"),
    (token: string) => token.toUpperCase(),
    () => "secret",
  ].map((change) => ({
    send: ({ sendBare, token }) =>
      sendBare("/v1/pets", { headers: { authorization: `Bearer ${change(token)}` } }),
    code: "invalid_credentials",
    message: MISTYPED,
  })),
  unknownToken: [{
    send: ({ sendBare }) => {
      const token = newToken((length) => new Uint8Array(length));
      return sendBare("/v1/pets", { headers: { authorization: `Bearer ${token}` } });
    },
    code: "invalid_credentials",
    message: "The API key is not known",
  }],
  readOnlyKey: [{
    send: async (service) => {
      const { token } = await issueKey(service, { label: "reader", isReadOnly: true });
      return await service.add(REX, { authorization: `Bearer ${token}` });
    },
    code: "read_only_key",
    message: "The API key may only read: use a key that may add animals",
  }],
  rateLimited: [{
    open: () => openTestService(undefined, { rateLimit: 1 }),
    send: async ({ send, runtime }) => {
      for (let count = 0; count < 2; count++) await (await send("/v1/pets")).body?.cancel();
      const pending = send("/v1/pets");
      await runtime.advance(HOLD_BACK_MS);
      return await pending;
    },
    code: "rate_limited",
    message: "The rate limit of an API key is 1 per second",
  }],

  unknownPath: [
    ["/pets", "/v1/pets"],
    ["/pets/", "/v1/pets"],
    ["/v1/pets/", "/v1/pets"],
    ["/v1//pets", "/v1/pets"],
    ["/V1/Pets", "/v1/pets"],
    ["/v1/v1/pets?limit=1", "/v1/pets"],
    ["/pets/7", "/v1/pets/7"],
    ["/v1/pets/7/", "/v1/pets/7"],
    ["/v1/pets//7", "/v1/pets/7"],
    ["/v1", "/v1/pets or /v1/pets/{petId}"],
    ["/pets/secret", "/v1/pets or /v1/pets/{petId}"],
    ["/v1/pet", "/v1/pets or /v1/pets/{petId}"],
    ["/v1/pets/7/owners", "/v1/pets or /v1/pets/{petId}"],
  ].map(([path, right]) => ({
    send: ({ send }) => send(path),
    code: "not_found",
    message: `The path does not exist: use ${right}`,
  })),
  methodNotAllowed: [{
    send: ({ send }) => send("/v1/pets", { method: "PUT" }),
    code: "method_not_allowed",
    message: "The path supports only GET, HEAD, POST, OPTIONS",
  }],
  petNotFound: ["1", "-1", "9".repeat(30)].map((id) => ({
    send: ({ send }) => send(`/v1/pets/${id}`),
    code: "pet_not_found",
    message: "An animal with this identifier does not exist",
  })),
  petIdNotInteger: ["abc", "01", "1.0", "+1", "secret"].map((id) => ({
    send: ({ send }) => send(`/v1/pets/${id}`),
    code: "pet_not_found",
    message: "The identifier of an animal is an integer without leading zeros, such as 42",
  })),

  unknownParameter: [
    ["/v1/pets?offset=secret", "use limit, status, cursor"],
    ["/v1/pets/1?offset=secret", "this operation takes none"],
  ].map(([path, known]) => ({
    send: ({ send }) => send(path),
    code: "invalid_parameter",
    message: `Query parameter "offset" is not known: ${known}`,
  })),
  repeatedParameter: [{
    send: ({ send }) => send("/v1/pets?limit=1&limit=2"),
    code: "invalid_parameter",
    message: 'Query parameter "limit" is repeated',
  }],
  invalidParameter: [
    ["limit=0", 'Query parameter "limit" must be an integer from 1 to 100'],
    ["status=secret", 'Query parameter "status" must be one of available, pending, sold'],
    [
      "cursor=secret",
      'Query parameter "cursor" must be taken from the Link header of another page',
    ],
  ].map(([query, message]) => ({
    send: ({ send }) => send(`/v1/pets?${query}`),
    code: "invalid_parameter",
    message,
  })),
  invalidIdempotencyKey: [{
    send: ({ add }) => add(REX, { "idempotency-key": "a b" }),
    code: "invalid_idempotency_key",
    message: "Header Idempotency-Key must be 1 to 255 characters of visible ASCII, " +
      "or such characters and spaces in double quotes",
  }],
  repeatedIdempotencyKey: ["a, b", '"a", "b"', 'a,"b"'].map((field) => ({
    send: ({ add }) => add(REX, { "idempotency-key": field }),
    code: "invalid_idempotency_key",
    message: "Header Idempotency-Key is repeated, or has a comma outside of double quotes",
  })),

  missingContentType: [{
    send: ({ send }) => send("/v1/pets", { method: "POST", body: new Uint8Array([123]) }),
    code: "unsupported_media_type",
    message: "The Content-Type header is missing: send one JSON object as application/json",
  }],
  otherContentType: ["application/x-www-form-urlencoded", "application/json; charset=latin1"].map(
    (type) => ({
      send: ({ add }) => add(REX, { "content-type": type }),
      code: "unsupported_media_type",
      message: "The Content-Type must be application/json, in UTF-8",
    }),
  ),
  encodedBody: [{
    send: ({ add }) => add(REX, { "content-encoding": "gzip" }),
    code: "unsupported_media_type",
    message: "The body must not be encoded",
  }],
  bodyTooLarge: [{
    send: ({ add }) => add(" ".repeat(BODY_LIMIT_BYTES + 1)),
    code: "body_too_large",
    message: "The body is larger than 65536 bytes",
  }],
  bodyTimeout: [{
    send: async ({ runtime, ...service }) => {
      const pending = addStream(service, {});
      await runtime.advance(BODY_LIMIT_MS);
      return await pending;
    },
    code: "request_timeout",
    message: "The body did not arrive within 10000 ms",
  }],
  brokenOffBody: [{
    send: (service) =>
      addStream(service, { pull: (controller) => controller.error(new Error("secret")) }),
    code: "malformed_body",
    message: "The body broke off",
  }],
  shuttingDown: [{
    send: async (service) => {
      const pending = addStream(service, {});
      await service.runtime.advance(1);
      service.cancelBodies();
      return await pending;
    },
    code: "shutting_down",
    message: "The service is shutting down",
  }],
  emptyBody: [
    ...["", " \r\n\t"].map((body): Case["send"] => ({ add }) => add(body)),
    ({ send }: TestService) => send("/v1/pets", { method: "POST" }),
  ].map((send) => ({
    send,
    code: "malformed_body",
    message: "The body is empty: send one JSON object",
  })),
  notUtf8: [
    [0xff],
    [0xc3],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
  ].map((bytes) => ({
    // The bytes before are a replacement character.
    send: ({ add }) => add(Uint8Array.of(0x7b, 0xef, 0xbf, 0xbd, ...bytes, 0x7d)),
    code: "malformed_body",
    message: "The body is not valid UTF-8 at byte 5",
  })),
  notJson: [
    ['{"name":"Rex",}', " at line 1, column 15: expected double-quoted property name"],
    [
      '{\n  "name": "Rex"\n  "categoryId": 7\n}',
      " at line 3, column 3: expected ',' or '}' after property value",
    ],
    [
      '{"name":"Rex","categoryId":7',
      " at line 1, column 29: expected ',' or '}' after property value",
    ],
    ['{"name":secret}', ""],
  ].map(([body, fault]) => ({
    send: ({ add }) => add(body),
    code: "malformed_body",
    message: `The body is not valid JSON${fault}`,
  })),
  tooDeep: [{
    send: ({ add }) => add("[".repeat(20_000) + "]".repeat(20_000)),
    code: "malformed_body",
    message: "The body is nested too deep",
  }],
  notObject: [
    ["[]", "an array"],
    ["null", "null"],
    ['"secret"', "a string"],
    ["1", "a number"],
    ["1.5", "a number"],
    ["true", "a boolean"],
  ].map(([body, type]) => ({
    send: ({ add }) => add(body),
    code: "malformed_body",
    message: `The body must be one JSON object, not ${type}`,
  })),
  invalidBody: [{
    send: ({ add }) => add({ ...REX, id: 1, colour: "secret" }),
    code: "invalid_body",
    message: `Field "id" is not known; Field "colour" is not known; ${FIELDS}`,
  }],
  invalidFields: [
    [{ categoryId: 1 }, 'Field "name" is missing'],
    [{ ...REX, name: null }, 'Field "name" must be a string'],
    [{ ...REX, name: "" }, 'Field "name" must be 1 to 1000 characters long'],
    [{ ...REX, status: "secret" }, 'Field "status" must be one of available, pending, sold'],
    [
      { ...REX, status: null },
      'Field "status" must be one of available, pending, sold, or be left out',
    ],
    [
      { ...REX, categoryId: "1" },
      'Field "categoryId" must be an integer from -9223372036854775808 to 9223372036854775807',
    ],
  ].map(([body, message]) => ({
    send: ({ add }) => add(body),
    code: "invalid_body",
    message: message as string,
  })),

  memoryStore: [{
    send: ({ sendBare }) => sendBare("/readyz"),
    code: "not_ready",
    message: "The store is in memory and is lost when the process ends",
  }],
  storeNotReady: [{
    open: async () => {
      let isFailing = false;
      const service = await openTestService((store) =>
        faultyStore(store, {
          onGet: (apply) => isFailing ? Promise.reject(new Error("disk failure")) : apply(),
        }), { isDurable: true });
      isFailing = true;
      return service;
    },
    send: ({ sendBare }) => sendBare("/readyz"),
    code: "not_ready",
    message: "The store failed to read",
  }],
};

for (const [name, cases] of Object.entries(CASES)) {
  for (const [index, { open = openTestService, send, code, message }] of cases.entries()) {
    Deno.test(`the message of ${name} says what is wrong and what to do (${index + 1})`, async () => {
      await using service = await open();
      const response = await send(service);
      const text = await response.clone().text();
      const suffix = response.status === 401 ? KEYLESS : "";
      assertEquals(JSON.parse(text).message, message + suffix);
      await assertError(response, { status: STATUSES[code]!, code });
      for (const secret of ["secret", service.token.slice(5)]) assert(!text.includes(secret), text);
    });
  }
}

Deno.test("a 401 names all addresses of documents and probes that need no key", async () => {
  await using service = await openTestService();
  const addresses: string[] = [];
  for (const { path, isPublic } of ROUTES) {
    const response = await service.sendBare(path);
    await response.body?.cancel();
    const isRedirect = response.status === 302;
    const isForBrowsers = response.status === 401 || path.includes("{");
    if (isPublic && !isRedirect && !isForBrowsers) addresses.push(path);
  }
  assertEquals(addresses.toSorted(), KEYLESS.match(/[/][a-z.]+/g)!.toSorted());
});

Deno.test("the paths in a message are those of the address for clients", async () => {
  const production = "https://shop.example/store/v1";
  await using service = await openTestService(undefined, { addresses: { production } });
  const refused = await (await service.sendBare("/v1/pets")).json();
  assertEquals(
    refused.message,
    `An API key is required: ${USE_BEARER}; ` +
      "/store/docs, /store/openapi.json, /store/healthz and /store/readyz need no key",
  );
  const { message } = await (await service.send("/pets")).json();
  assertEquals(message, "The path does not exist: use /store/v1/pets");
});

function addStream(
  { send }: Pick<TestService, "send">,
  source: UnderlyingDefaultSource<Uint8Array>,
) {
  return send("/v1/pets", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new ReadableStream(source),
  });
}
