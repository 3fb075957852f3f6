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

type Send = (service: TestService) => Promise<Response>;

interface Case {
  code: ErrorCode;
  /** The whole message. */
  message: string;
  /** Requests that are answered so. */
  sends: Send[];
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
const KEYLESS = "; /docs, /openapi.json, /healthz and /readyz need no key";
const FIELDS = `the fields are ${Object.keys(NewPet.shape).join(", ")}`;

const get = (path: string, headers: HeadersInit = {}): Send => ({ send }) =>
  send(path, { headers });
const post = (body: unknown, headers: HeadersInit = {}): Send => ({ add }) => add(body, headers);
const bare = (path: string): Send => ({ sendBare }) => sendBare(path);

/** A read with these headers, which may have the token. */
const keyed = (headersOf: (token: string) => HeadersInit): Send => ({ sendBare, token }) =>
  sendBare("/v1/pets", { headers: headersOf(token) });
const authorized = (authorization: string) => keyed(() => ({ authorization }));
const bearer = (change: (token: string) => string) =>
  keyed((token) => ({ authorization: `Bearer ${change(token)}` }));

const missing = (message: string, ...sends: Send[]): Case[] => [
  { code: "missing_credentials", message: `${message}${USE_BEARER}`, sends },
];
const invalid = (message: string, ...sends: Send[]): Case[] => [
  { code: "invalid_credentials", message, sends },
];
const badBody = (message: string, ...sends: Send[]): Case => ({
  code: "malformed_body",
  message,
  sends,
});
const badParameter = (message: string, ...paths: string[]): Case => ({
  code: "invalid_parameter",
  message: `Query parameter ${message}`,
  sends: paths.map((path) => get(path)),
});

/** The messages that clients get. Three are of the domain: those of keys. */
const CASES: Record<
  keyof typeof HTTP_ERRORS | "malformedToken" | "unknownToken" | "readOnlyKey",
  Case[]
> = {
  missingHost: [{
    code: "malformed_request",
    message: "The Host header is missing",
    sends: [({ handler }) =>
      handler(new Request("http://localhost/v1/pets"), {
        clientAddress: () => "",
        urlWithoutHost: "http://localhost/",
      })],
  }],
  malformedHost: [{
    code: "malformed_request",
    message: "The Host header must be one host name with or without a port",
    sends: ["localhost/healthz?", "a b", "me@localhost", "<script>"].map((host) =>
      get("/v1/pets", { host })
    ),
  }],
  malformedContentLength: [{
    code: "malformed_request",
    message: "Content-Length must be one whole number",
    sends: [post(REX, { "content-length": "1, 2" })],
  }],

  missingKey: missing("An API key is required: ", bare("/v1/pets")),
  keyInOtherHeader: ["X-API-Key", "Api-Key"].flatMap((name) =>
    missing(
      `The API key is not read from ${name}: send it as `,
      keyed((token) => ({ [name]: token })),
    )
  ),
  keyWithoutScheme: missing(
    'The Authorization header has a key without "Bearer" before it: send ',
    keyed((token) => ({ authorization: token })),
  ),
  otherScheme: missing(
    "The scheme of the Authorization header is not Bearer: send ",
    ...["Basic cGV0czpwZXRz", "Token pets_0", "Digest a=b, c=d"].map(authorized),
  ),
  schemeWithoutKey: missing(
    'The Authorization header has no API key after "Bearer": send ',
    ...["Bearer", "bearer "].map(authorized),
  ),
  repeatedScheme: invalid(
    `The Authorization header has "Bearer" twice: send ${USE_BEARER}`,
    ...["Bearer Bearer", "bearer  BEARER"].map((schemes) =>
      keyed((token) => ({ authorization: `${schemes} ${token}` }))
    ),
  ),
  quotedKey: invalid(
    `The API key is in quotes: send ${USE_BEARER} without quotes`,
    ...[`"`, "'"].map((quote) => bearer((token) => quote + token + quote)),
  ),
  malformedToken: invalid(
    "The API key is mistyped or cut off: a key is pets_ and 72 digits and letters from a to f",
    bearer((token) => token.slice(0, -1)),
    bearer((token) => `${token}0`),
    bearer((token) => token.slice(0, -1) + (token.endsWith("0") ? "1" : "0")),
    bearer((token) => token.toUpperCase()),
    bearer(() => "secret"),
  ),
  unknownToken: invalid(
    "The API key is not known",
    bearer(() => newToken((length) => new Uint8Array(length))),
  ),
  readOnlyKey: [{
    code: "read_only_key",
    message: "The API key may only read: use a key that may add animals",
    sends: [async (service) => {
      const { token } = await issueKey(service, { label: "reader", isReadOnly: true });
      return await service.add(REX, { authorization: `Bearer ${token}` });
    }],
  }],
  rateLimited: [{
    code: "rate_limited",
    message: "The rate limit of an API key is 1 per second",
    open: () => openTestService(undefined, { rateLimit: 1 }),
    sends: [async ({ send, runtime }) => {
      for (let count = 0; count < 2; count++) await (await send("/v1/pets")).body?.cancel();
      const pending = send("/v1/pets");
      await runtime.advance(HOLD_BACK_MS);
      return await pending;
    }],
  }],

  unknownPath: Object.entries({
    "/v1/pets": ["/pets", "/pets/", "/v1/pets/", "/v1//pets", "/V1/Pets", "/v1/v1/pets?limit=1"],
    "/v1/pets/7": ["/pets/7", "/v1/pets/7/", "/v1/pets//7"],
    "/v1/pets or /v1/pets/{petId}": ["/v1", "/pets/secret", "/v1/pet", "/v1/pets/7/owners"],
  }).map(([right, paths]) => ({
    code: "not_found",
    message: `The path does not exist: use ${right}`,
    sends: paths.map((path) => get(path)),
  })),
  methodNotAllowed: [{
    code: "method_not_allowed",
    message: "The path supports only GET, HEAD, POST, OPTIONS",
    sends: [({ send }) => send("/v1/pets", { method: "PUT" })],
  }],
  petNotFound: [{
    code: "pet_not_found",
    message: "An animal with this identifier does not exist",
    sends: ["1", "-1", "9".repeat(30)].map((id) => get(`/v1/pets/${id}`)),
  }],
  petIdNotInteger: [{
    code: "pet_not_found",
    message: "The identifier of an animal is an integer without leading zeros, such as 42",
    sends: ["abc", "01", "1.0", "+1", "secret"].map((id) => get(`/v1/pets/${id}`)),
  }],

  unknownParameter: [
    badParameter('"a" is not known: use limit, status, cursor', "/v1/pets?a=secret"),
    badParameter('"a" is not known: this operation takes none', "/v1/pets/1?a=secret"),
  ],
  repeatedParameter: [badParameter('"limit" is repeated', "/v1/pets?limit=1&limit=2")],
  invalidParameter: [
    badParameter('"limit" must be an integer from 1 to 100', "/v1/pets?limit=0"),
    badParameter('"status" must be one of available, pending, sold', "/v1/pets?status=secret"),
    badParameter(
      '"cursor" must be taken from the Link header of another page',
      "/v1/pets?cursor=secret",
    ),
  ],
  invalidIdempotencyKey: [{
    code: "invalid_idempotency_key",
    message: "Header Idempotency-Key must be 1 to 255 characters of visible ASCII, " +
      "or such characters and spaces in double quotes",
    sends: [post(REX, { "idempotency-key": "a b" })],
  }],
  repeatedIdempotencyKey: [{
    code: "invalid_idempotency_key",
    message: "Header Idempotency-Key is repeated, or has a comma outside of double quotes",
    sends: ["a, b", '"a", "b"', 'a,"b"'].map((key) => post(REX, { "idempotency-key": key })),
  }],

  missingContentType: [{
    code: "unsupported_media_type",
    message: "The Content-Type header is missing: send one JSON object as application/json",
    sends: [({ send }) => send("/v1/pets", { method: "POST", body: new Uint8Array([123]) })],
  }],
  otherContentType: [{
    code: "unsupported_media_type",
    message: "The Content-Type must be application/json, in UTF-8",
    sends: ["application/x-www-form-urlencoded", "application/json; charset=latin1"].map((type) =>
      post(REX, { "content-type": type })
    ),
  }],
  encodedBody: [{
    code: "unsupported_media_type",
    message: "The body must not be encoded",
    sends: [post(REX, { "content-encoding": "gzip" })],
  }],
  bodyTooLarge: [{
    code: "body_too_large",
    message: "The body is larger than 65536 bytes",
    sends: [post(" ".repeat(BODY_LIMIT_BYTES + 1))],
  }],
  bodyTimeout: [{
    code: "request_timeout",
    message: "The body did not arrive within 10000 ms",
    sends: [async ({ runtime, ...service }) => {
      const pending = addStream(service, {});
      await runtime.advance(BODY_LIMIT_MS);
      return await pending;
    }],
  }],
  brokenOffBody: [badBody(
    "The body broke off",
    (service) => addStream(service, { pull: (it) => it.error(new Error("secret")) }),
  )],
  shuttingDown: [{
    code: "shutting_down",
    message: "The service is shutting down",
    sends: [async (service) => {
      const pending = addStream(service, {});
      await service.runtime.advance(1);
      service.cancelBodies();
      return await pending;
    }],
  }],
  emptyBody: [badBody(
    "The body is empty: send one JSON object",
    post(""),
    post(" \r\n\t"),
    ({ send }) => send("/v1/pets", { method: "POST" }),
  )],
  notUtf8: [badBody(
    "The body is not valid UTF-8 at byte 5",
    ...[[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]].map((bytes) =>
      // The bytes before are a replacement character.
      post(Uint8Array.of(0x7b, 0xef, 0xbf, 0xbd, ...bytes, 0x7d))
    ),
  )],
  notJson: [
    badBody(
      "The body is not valid JSON at line 1, column 15: expected double-quoted property name",
      post('{"name":"Rex",}'),
    ),
    badBody(
      "The body is not valid JSON at line 3, column 3: expected ',' or '}' after property value",
      post('{\n  "name": "Rex"\n  "categoryId": 7\n}'),
    ),
    badBody("The body is not valid JSON", post('{"name":secret}')),
  ],
  tooDeep: [
    badBody("The body is nested too deep", post("[".repeat(20_000) + "]".repeat(20_000))),
  ],
  notObject: Object.entries({
    "an array": ["[]"],
    "null": ["null"],
    "a string": ['"secret"'],
    "a number": ["1", "1.5"],
    "a boolean": ["true"],
  }).map(([type, bodies]) =>
    badBody(`The body must be one JSON object, not ${type}`, ...bodies.map((body) => post(body)))
  ),
  invalidBody: [{
    code: "invalid_body",
    message: `Field "id" is not known; Field "colour" is not known; ${FIELDS}`,
    sends: [post({ ...REX, id: 1, colour: "secret" })],
  }],

  memoryStore: [{
    code: "not_ready",
    message: "The store is in memory and is lost when the process ends",
    sends: [bare("/readyz")],
  }],
  storeNotReady: [{
    code: "not_ready",
    message: "The store failed to read",
    open: async () => {
      let isFailing = false;
      const service = await openTestService((store) =>
        faultyStore(store, {
          onGet: (apply) => isFailing ? Promise.reject(new Error("disk failure")) : apply(),
        }), { isDurable: true });
      isFailing = true;
      return service;
    },
    sends: [bare("/readyz")],
  }],
};

for (const [name, cases] of Object.entries(CASES)) {
  Deno.test(`the message of ${name} says what is wrong and what to do`, async () => {
    for (const { open = openTestService, sends, code, message } of cases) {
      for (const send of sends) {
        await using service = await open();
        const response = await send(service);
        const text = await response.clone().text();
        const suffix = response.status === 401 ? KEYLESS : "";
        assertEquals(JSON.parse(text).message, message + suffix);
        await assertError(response, { status: STATUSES[code]!, code });
        for (const secret of ["secret", service.token.slice(5)]) assert(!text.includes(secret));
      }
    }
  });
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
