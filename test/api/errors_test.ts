import { URL_WITHOUT_HOST } from "../support/fetch_from.ts";
import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import { petKey } from "../../src/animals/pet_keys.ts";
import { assert, assertEquals } from "@std/assert";
import { APPEND_LIMIT_MS, QUEUE_LIMIT } from "../../src/eventstore_less/append/appender.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { CATEGORIES_LIMIT } from "../../src/categories/write_category.ts";
import { newToken } from "../../src/keys/token.ts";
import { type ErrorCode, ERRORS } from "../../src/api/errors.ts";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { STORE_LIMITS, type StoreEntry } from "../../src/eventstore_less/store/store.ts";
import { COMMIT_FAULTS, type FaultyStore } from "../support/faulty_store.ts";
import { BODY_LIMIT_MS } from "../../src/api/requests/request_body.ts";
import { BODY_LIMIT_BYTES } from "../../src/runtime/service_request.ts";
import { SHOWN_TYPES } from "../../src/http/events_query.ts";
import { HOLD_BACK_MS } from "../../src/http/limits/rate_limiter.ts";
import { DESCRIPTION } from "../support/assert_described.ts";
import { nameManyCategories } from "../support/name_many_categories.ts";
import { openTestService, type TestService } from "../support/test_service.ts";
import { assertError } from "../support/test_each_way.ts";

type Send = (service: TestService) => Promise<Response>;

const REX = { name: "Rex", categoryId: 1 };
const SOLD = { status: "sold" };
const USE_BEARER = "Authorization: Bearer <API_KEY>";
const CHALLENGES: Record<string, string> = {
  missing_credentials: "Bearer",
  invalid_credentials: 'Bearer error="invalid_token"',
  read_only_key: 'Bearer error="insufficient_scope"',
};
const GZIP = { "content-encoding": "gzip" };
/** The id of an event in another log. */
const OTHER_ID = `${"1".padStart(16, "0")}-${"a".repeat(16)}`;
/** Each with its name in the message. */
const UNKNOWN_PARAMETERS = [["a", "a=secret"], ["Limit", "Limit=5"], ["", "=1"], ["a&b", "a%26b=1"]]
  .concat([[`${"x".repeat(50)}…`, `${"x".repeat(5_000)}=1`]]);

/** Bodies for which V8 names no place, each with that place. */
const UNEXPECTED: [line: number, column: number, body: string][] = [
  [1, 9, '{"name":secret}'],
  [1, 15, '{"categoryId":+1}'],
  [1, 15, '{"categoryId":NaN}'],
  [3, 11, '{\n "name": "R\\"x",\n "status":}'],
  [2, 6, '{"name":"Rex",\n"a": .5}'],
  [1, 10, '{"name":tRue}'],
  [1, 30_007, `{"name":"${"x".repeat(29_990)}", "a":Infinity}`],
  [1, 1, "// Rex\n{}"],
  [1, 1, "a=b"],
  [1, 1, "undefined"],
];

const get = (path: string, headers: HeadersInit = {}): Send => ({ send }) =>
  send(path, { headers });
const list = (...queries: string[]) => queries.map((query) => get(`/v1/pets?${query}`));
const follow = (...queries: string[]) => queries.map((query) => get(`/v1/events?${query}`));
const withEach = (name: string, values: string[]) =>
  list(...values.map((value) => `${name}=${encodeURIComponent(value)}`));
const post = (body: unknown, headers: HeadersInit = {}): Send => ({ add }) => add(body, headers);
const postWith = (name: string, values: string[]) =>
  values.map((value) => post(REX, { [name]: value }));
const patch = (body: unknown, headers: HeadersInit = {}): Send => ({ change }) =>
  change(1, body, headers);
const patchWith = (name: string, values: string[]) =>
  values.map((value) => patch(SOLD, { [name]: value }));
/** A read, a change and a removal of a pet. */
const forPet = (id: string): Send[] => [
  get(`/v1/pets/${id}`),
  ({ change }) => change(id, SOLD),
  ({ remove }) => remove(id),
];
const name = (id: string, body: unknown, headers: HeadersInit = {}): Send => ({ nameCategory }) =>
  nameCategory(id, body as string, headers);
/** Reads and a removal of a category. */
const forCategory = (id: string): Send[] => [
  get(`/v1/categories/${id}`),
  get(`/v1/categories/${id}/events`),
  ({ removeCategory }) => removeCategory(id),
];
const bare = (path: string): Send => ({ sendBare }) => sendBare(path);

/** A read with these headers, which may have the token. */
const keyed = (headersOf: (token: string) => HeadersInit): Send => ({ sendBare, token }) =>
  sendBare("/v1/pets", { headers: headersOf(token) });
const authorized = (...values: string[]) =>
  values.map((authorization) => keyed(() => ({ authorization })));
const bearer = (change: (token: string) => string) =>
  keyed((token) => ({ authorization: `Bearer ${change(token)}` }));

/** All paths of the interface, in the words of a message. */
function pathsAt(base: string): string {
  const paths = Object.keys(DESCRIPTION.paths).map((path) => base + path);
  return `${paths.slice(0, -1).join(", ")} or ${paths.at(-1)}`;
}

/** The messages that clients get with each status and code, and requests that are answered so. */
const CASES: Record<string, [message: string, ...sends: Send[]][]> = {
  "400 malformed_request": [
    [
      "The Host header is missing",
      ({ fetch }) => fetch(new Request(`${URL_WITHOUT_HOST}v1/pets`)),
    ],
    [
      "The Host header must be one host name with or without a port",
      ...["localhost/healthz?", "a b", "me@localhost", "<script>", "a#b", "a:b", "a:123456"]
        .map((host) => get("/v1/pets", { host })),
    ],
    [
      "The Last-Event-ID header must be the id of an event",
      ...["now", "secret", `${OTHER_ID}0`].map((id) => get("/v1/events", { "last-event-id": id })),
    ],
    ["Content-Length must be one whole number", post(REX, { "content-length": "1, 2" })],
    [
      'Header If-Match must be the ETag of an animal or a category, such as "1f2e", or *',
      ...patchWith("if-match", ["", ",", "secret", '"a', 'a"', '"a""b"', '"a" "b"', '"a", secret']),
      ...patchWith("if-match", ['w/"a"', 'W/ "a"', "W/", '*, "a"', '"a", *', '"a b"']),
    ],
  ],

  "401 missing_credentials": [
    [`An API key is required: ${USE_BEARER}`, bare("/v1/pets"), ...authorized("")],
    ...["X-API-Key", "Api-Key"].map((name): [string, Send] => [
      `The API key is not read from ${name}: send it as ${USE_BEARER}`,
      keyed((token) => ({ [name]: token })),
    ]),
    [
      `The Authorization header is not Bearer with an API key: send ${USE_BEARER}`,
      keyed((token) => ({ authorization: token })),
      ...authorized("Bearer", "bearer ", "Bearertoken", "Basic cGV0czpwZXRz", "Digest a=b, c=d"),
    ],
  ],
  "401 invalid_credentials": [
    [
      `The API key has quotes or "Bearer" around it: send only ${USE_BEARER}`,
      ...[`"`, "'"].map((quote) => bearer((token) => quote + token + quote)),
      ...["Bearer Bearer", "bearer  BEARER"].map((schemes) =>
        keyed((token) => ({ authorization: `${schemes} ${token}` }))
      ),
    ],
    [
      "The API key is mistyped or cut off: a key is pets_ and 72 digits and letters from a to f",
      bearer((token) => token.slice(0, -1)),
      bearer((token) => `${token}0`),
      bearer((token) => token.slice(0, -1) + (token.endsWith("0") ? "1" : "0")),
      bearer((token) => token.toUpperCase()),
      bearer((token) => `${token}, Bearer ${token}`),
      bearer(() => "secret"),
      bearer(() => "é"),
    ],
    ["The API key is not known", bearer(() => newToken((length) => new Uint8Array(length)))],
  ],
  "403 read_only_key": [
    ["The API key may only read: use a key that may write", async (service) => {
      const { token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
      return await service.add(REX, { authorization: `Bearer ${token}` });
    }],
  ],
  "429 rate_limited": [
    ["The rate limit of an API key is 1 per second", async ({ send, runtime }) => {
      for (let count = 0; count < 2; count++) await (await send("/v1/pets")).body?.cancel();
      const pending = send("/v1/pets");
      await runtime.advance(HOLD_BACK_MS);
      return await pending;
    }],
  ],

  "404 not_found": [
    [
      `The path does not exist: use ${pathsAt("/v1")}`,
      ...["/pets/secret", "/pets", "/v1/pets/", "/v1//pets", "/V1/Pets", "/v1/v1/pets?limit=1"]
        .concat("/v1", "/v1/pet", "/v1/pets/7/", "/v1/pets/7/owners").map((path) => get(path)),
    ],
    [
      "The path does not exist: use /docs or /openapi.json",
      ...["/v1/docs", "/swagger.json", "/v1/openapi.json", "/swagger-ui/", "/swagger-ui/index.html"]
        .concat("/openapi.yaml", "/api-docs", "/v3/api-docs", "/redoc").map(bare),
      get("/v1/docs"),
      ({ sendBare }) => sendBare("/swagger", { method: "POST" }),
    ],
    ["The path does not exist: use /docs", get("/docs/unknown"), get("/docs/unknown.css")],
    ["The path does not exist: use /window", get("/window/unknown"), get("/window/window_page.ts")],
  ],
  "405 method_not_allowed": [
    [
      "The path supports only GET, HEAD, POST, OPTIONS",
      ({ send }) => send("/v1/pets", { method: "PUT" }),
    ],
    [
      "The path supports only GET, HEAD, PATCH, DELETE, OPTIONS",
      ({ send }) => send("/v1/pets/1", { method: "POST" }),
    ],
    [
      "The path supports only GET, HEAD, OPTIONS",
      ...["/v1/events", "/v1/key", "/v1/pets/1/events"].flatMap((path) =>
        ["POST", "PATCH", "DELETE", "PUT"].map((method): Send => ({ send }) =>
          send(path, { method })
        )
      ),
    ],
  ],
  "404 category_not_found": [
    [
      "A category with this identifier has no name",
      ...["0", "-1", "9223372036854775807", "-9223372036854775808"].flatMap(forCategory),
      ({ removeCategory }) => removeCategory(1n, { "if-match": "*" }),
    ],
    [
      "The identifier of a category is an int64 without leading zeros, such as 7",
      ...["secret", "1.0", "1e0", "01", "+1", "-0", "0x1", "%31", "1%20", "%00", "1;a=b", "NaN"]
        .concat("9223372036854775808", "-9223372036854775809", "9".repeat(1_000))
        .flatMap((id) => [...forCategory(id), name(id, "Dogs")]),
    ],
  ],
  "404 pet_not_found": [
    [
      "An animal with this identifier does not exist",
      ...["1", "-1", "9223372036854775808", "9".repeat(1_000)].flatMap(forPet),
      // Whether the animal exists comes before whether it is the expected one.
      ...patchWith("if-match", ["*", '"a"']),
    ],
    [
      "The identifier of an animal is an integer without leading zeros, such as 42",
      ...["secret", "1.0", "1e0", "01", "+1", "-0", "0x1", "%31", "1%20", "%00", "1;a=b", "NaN"]
        .flatMap(forPet),
    ],
  ],

  "400 invalid_parameter": [
    ...UNKNOWN_PARAMETERS.map(([name, query]): [string, ...Send[]] => [
      `Query parameter "${name}" is not known: use limit, status, categoryId, cursor, ids, name, order`,
      ...list(query, `limit=5&${query}`),
    ]),
    ...["offset", "page"].map((name): [string, ...Send[]] => [
      `Query parameter "${name}" is not known: the address of the next page is in the Link header`,
      ...list(`${name}=2`),
      ...follow(`${name}=2`),
    ]),
    [
      'Query parameter "limit" is not known: this operation takes none',
      ({ send }) => send("/v1/pets?limit=1", { method: "POST" }),
      get("/v1/key?limit=1"),
      ...forPet("1?limit=1"),
    ],
    [
      'Query parameter "status" must be one of available, pending, sold',
      ...follow("status=none"),
    ],
    [
      'Query parameter "limit" is repeated',
      ...list("limit=5&limit=5", "limit=5&status=sold&%6Cimit=6"),
    ],
    [
      'Query parameter "limit" must be an integer from 1 to 100',
      ...withEach("limit", ["0", "101", "-1", "", "1.5", "1e1", "0x1", " 1", "+1", "x"]),
    ],
    [
      'Query parameter "status" must be one of available, pending, sold, none',
      ...withEach("status", ["secret", "None", "Available", "", "sold,pending", "\0"]),
    ],
    [
      'Query parameter "categoryId" must be an integer from -9223372036854775808 to 9223372036854775807',
      ...withEach("categoryId", ["", "secret", "1.5", "01", "-0", "+1", "9223372036854775808"]),
    ],
    [
      'Query parameter "ids" must be 1 to 100 identifiers, with commas between them',
      ...withEach("ids", ["", "0", "-1", "1,", "1,secret", "1;2", "1, 2", "1.5", "1".repeat(20)]),
      ...list(
        `ids=${Array.from({ length: 101 }, (_, index) => index + 1)}`,
        `ids=1${",1".repeat(100)}`,
        `ids=1${"&ids=1".repeat(100)}`,
        ...["ids=1&ids=", "ids=&ids=1", "ids=1&ids=secret"],
      ),
    ],
    [
      'Query parameter "ids" cannot be used with another parameter',
      ...list(
        "ids=1&limit=1",
        "cursor=1&ids=1",
        "ids=1&status=sold",
        "ids=1&categoryId=1",
        "ids=1&name=a",
      ),
    ],
    [
      'Query parameter "name" must be 1 to 100 characters long',
      ...withEach("name", ["", "x".repeat(101), "🐈".repeat(101), "x".repeat(5_000)]),
    ],
    [
      'Query parameter "since" must be a time such as 2026-11-20T08:00:00Z',
      ...["", "now", "2026-11-20", "2026-02-30T08:00:00Z", "2026-11-20T08:00:00", "1763625600"]
        .flatMap((time) => follow(`since=${time}`)),
    ],
    [
      'Query parameter "since" cannot be used with lastEventId',
      ...follow("since=2026-11-20T08:00:00Z&lastEventId=now"),
    ],
    [
      'Query parameter "cursor" must be taken from the Link header of another page',
      ...withEach("cursor", ["secret", "0", "-1", "", "1.5", "1e3", "9".repeat(20)]),
    ],
    [
      'Query parameter "cursor" is not known: use lastEventId, since, limit, timeout, type, status',
      ...follow("cursor=1"),
    ],
    [
      'Query parameter "lastEventId" must be the id of an event, or now',
      ...follow("lastEventId=secret", "lastEventId=", `lastEventId=${OTHER_ID}0`),
    ],
    ['Query parameter "limit" must be an integer from 1 to 1000', ...follow("limit=1001")],
    ['Query parameter "timeout" must be an integer from 0 to 30000', ...follow("timeout=30001")],
    [
      `Query parameter "type" must be one of ${SHOWN_TYPES.join(", ")}`,
      ...follow("type=ApiKeyIssued", "type=secret"),
    ],
  ],
  "410 feed_reset": [
    [
      `The event ${OTHER_ID} is not in this log: follow from lastEventId=now and then read all ` +
      "lists again, or read all events without lastEventId",
      ...follow(`lastEventId=${OTHER_ID}`, `lastEventId=${OTHER_ID}&timeout=1000`),
      get("/v1/events", { "last-event-id": OTHER_ID, accept: "text/event-stream" }),
    ],
  ],
  "400 invalid_idempotency_key": [
    [
      "Header Idempotency-Key must be 1 to 255 characters of visible ASCII, such as a UUID; " +
      "in double quotes, also with spaces and commas",
      ...postWith("idempotency-key", ["", '""', "k".repeat(256), `"${"k".repeat(254)}"`]),
      ...postWith("idempotency-key", [`"${'\\"'.repeat(127)}"`]),
      ...postWith("idempotency-key", ["a, b", '"a", "b"', 'a,"b"', '"', '"a', String.raw`"a\"`]),
      ...postWith("idempotency-key", ["é", "a b", 'a"', 'a"b', '"a\tb"', String.raw`"a\b"`]),
      ...postWith("idempotency-key", ['"a"b"', '"a"; p=1']),
      ...patchWith("idempotency-key", ["", "a, b"]),
    ],
  ],

  "415 unsupported_media_type": [
    [
      "The Content-Type header is missing: send one JSON object as application/json",
      ({ send }) => send("/v1/pets", { method: "POST", body: new Uint8Array([123]) }),
    ],
    [
      "The Content-Type must be application/json, in UTF-8",
      ...postWith("content-type", ["text/plain", "", "application/jsonp", "json"]),
      ...postWith("content-type", ["application/json-patch+json", "multipart/form-data"]),
      ...postWith("content-type", ["application/json; charset=latin1", "application/json, text/a"]),
    ],
    [
      "The Content-Type header is missing: send one JSON object as application/merge-patch+json or application/json",
      ({ send }) => send("/v1/pets/1", { method: "PATCH", body: new Uint8Array([123]) }),
    ],
    [
      "The Content-Type must be application/merge-patch+json or application/json, in UTF-8",
      ...patchWith("content-type", ["text/plain", "application/json-patch+json"]),
      ...patchWith("content-type", ["application/merge-patch+json; charset=latin1"]),
    ],
    ["The body must not be encoded", ...[post, patch].map((send) => send(REX, GZIP))],
  ],
  "413 body_too_large": [
    [
      "The body is larger than 65536 bytes",
      ...[post, patch].map((send) => send(" ".repeat(BODY_LIMIT_BYTES + 1))),
    ],
  ],
  "408 request_timeout": [
    ["The body did not arrive within 10000 ms", async ({ runtime, ...service }) => {
      const pending = addStream(service, {});
      await runtime.advance(BODY_LIMIT_MS);
      return await pending;
    }],
  ],
  "503 shutting_down": [
    ["The service is shutting down", async (service) => {
      const pending = addStream(service, {});
      await service.runtime.advance(1);
      service.endWaiting();
      return await pending;
    }, (service) => {
      service.endWaiting();
      return addStream(service, {});
    }],
  ],
  "400 malformed_body": [
    [
      "The body broke off",
      (service) => addStream(service, { pull: (it) => it.error(new Error("secret")) }),
    ],
    [
      "The body is empty: send one JSON object",
      post(""),
      post(" \r\n\t"),
      patch(""),
      ({ send }) => send("/v1/pets", { method: "POST" }),
    ],
    [
      "The body is not valid UTF-8",
      ...[[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]
        .map((bytes) => post(Uint8Array.of(0x7b, ...bytes, 0x7d))),
    ],
    [
      "The body is not valid JSON at line 3, column 3: expected ',' or '}' after property value",
      post('{\n  "name": "Rex"\n  "categoryId": 7\n}'),
    ],
    [
      "The body is not valid JSON at line 1, column 2: expected property name or '}'",
      ...["{", "{'name':'Rex'}"].map((body) => post(body)),
    ],
    ...UNEXPECTED.map(([line, column, body]): [string, Send] => [
      `The body is not valid JSON at line ${line}, column ${column}: unexpected character`,
      post(body),
    ]),
    [
      "The body is not valid JSON at line 1, column 1: unexpected byte order mark",
      post(`\ufeff${JSON.stringify(REX)}`),
    ],
    [
      "The body is nested too deep",
      post("[".repeat(20_000) + "]".repeat(20_000)),
      post('{"a":'.repeat(10_000) + "1" + "}".repeat(10_000)),
    ],
    [
      "The body must be one JSON object",
      ...["[]", "null", '"secret"', "1", "1.5", "true"]
        .flatMap((body) => [post(body), patch(body)]),
    ],
  ],
  // parse_body_test has the other messages.
  "400 invalid_body": [
    ['Field "id" is assigned by the service: leave it out', post({ ...REX, id: "secret" })],
  ],

  "503 not_ready": [
    ["The store is in memory and is lost when the process ends", bare("/readyz")],
  ],
};

for (const [name, cases] of Object.entries(CASES)) {
  Deno.test(`each message of ${name} says what is wrong and what to do`, async () => {
    const [status, code] = name.split(" ");
    for (const [message, ...sends] of cases) {
      for (const send of sends) {
        const rateLimit = code === "rate_limited" ? 1 : undefined;
        await using service = await openTestService({ rateLimit });
        const response = await send(service);
        const text = await response.clone().text();
        assertEquals(JSON.parse(text).message, message);
        const challenge = response.headers.get("www-authenticate");
        assertEquals(challenge, CHALLENGES[code] ?? null);
        await assertError(response, { status: Number(status), code });
        for (const secret of ["secret", service.token.slice(5)]) assert(!text.includes(secret));
        assertEquals(lastPetIdOf((await readHead(service.store)).head), 0, "nothing was added");
      }
    }
  });
}

/** How to get each error of the domain, and of a store with faults. */
const SCENARIOS: Record<string, (service: TestService, store: FaultyStore) => Promise<Response>> = {
  idempotency_key_reused: async ({ add }) => {
    await add(REX, { "idempotency-key": "one" });
    return await add({ ...REX, name: "Mia" }, { "idempotency-key": "one" });
  },
  category_name_taken: async ({ nameCategory }) => {
    await nameCategory(1n, "Dogs");
    return await nameCategory(2n, "dogs");
  },
  too_many_categories: async (service) => {
    await nameManyCategories(service, CATEGORIES_LIMIT);
    return await service.nameCategory(-1n, "Dogs");
  },
  precondition_failed: async ({ add, change }) => {
    await add(REX);
    return await change(1, { name: "Mia" }, { "if-match": '"a"' });
  },
  internal_error: (service, store) => listOf(undefined as never, service, store),
  projection_damaged: (service, store) => {
    const key = projectionKey(1, petKey("sold", 2));
    return listOf({ key, value: "{}", versionstamp: "1" }, service, store);
  },
  store_unavailable: ({ send }, store) => {
    store.onList = () => Promise.reject(new Error("secret"));
    return send("/v1/pets");
  },
  outcome_unknown: async ({ runtime, add }, store) => {
    store.onCommit = COMMIT_FAULTS.hangs;
    const pending = add(REX);
    await runtime.advance(APPEND_LIMIT_MS);
    return await pending;
  },
  storage_full: async ({ runtime, add }, store) => {
    store.onCommit = COMMIT_FAULTS.isFull;
    return await runtime.settle(add(REX));
  },
  overloaded: ({ add }, store) => {
    store.onCommit = COMMIT_FAULTS.hangs;
    // During the commit, only an addition that finds the queue full gets a response.
    const length = STORE_LIMITS.commitMutations + QUEUE_LIMIT + 1;
    return Promise.race(Array.from({ length }, () => add(REX)));
  },
  shutting_down: async ({ appender, store, send }) => {
    await appender.drain();
    store.close();
    return await send("/v1/pets");
  },
};

/** Lists the pets of a store that reads such an entry. */
async function listOf(entry: StoreEntry, { add, send }: TestService, store: FaultyStore) {
  await add(REX);
  store.onSnapshot = async (apply, _keys, ranges) => {
    const read = await apply();
    return ranges.length === 0 ? read : { ...read, lists: [[entry]] };
  };
  return await send("/v1/pets");
}

for (const [code, scenario] of Object.entries(SCENARIOS)) {
  Deno.test(`${code} is described, and logged with the request id if it is a fault of the service`, async () => {
    const service = await openTestService();
    const { faults } = service;
    try {
      // After any key event, the next request reads its own key again.
      await issueApiKey(service, { label: "another" });
      // The client of the service asserts that the operation describes the response.
      const response = await scenario(service, faults);
      const requestId = response.headers.get("x-request-id");
      const text = await response.clone().text();
      assert(!text.includes("secret"), text);
      const { status } = ERRORS[code as ErrorCode];
      assertEquals(response.headers.get("retry-after"), status === 503 ? "1" : null);
      await assertError(response, { status, code });
      const logged = service.reports.filter(([, , details]) => details?.requestId === requestId)
        .map(([level, event, details]) => [level, event, details?.code, details?.status]);
      // The store logs its own full disk.
      const isLogged = status >= 500 && code !== "storage_full";
      const level = status === 503 ? "warn" : "error";
      assertEquals(logged, isLogged ? [[level, "request_failed", code, status]] : []);
    } finally {
      faults.onCommit = COMMIT_FAULTS.lands;
      const closed = service[Symbol.asyncDispose]();
      await service.runtime.advance(2 * APPEND_LIMIT_MS);
      await closed;
    }
  });
}

Deno.test("every error code has a test here", () => {
  const ofRequests = Object.keys(CASES).map((name) => name.split(" ")[1]);
  const tested = new Set([...ofRequests, ...Object.keys(SCENARIOS)]);
  assertEquals(tested.symmetricDifference(new Set(Object.keys(ERRORS))), new Set());
});

Deno.test("the paths in a message are those of the address for clients", async () => {
  await using service = await openTestService({ publicUrl: "https://shop.example/store/v1" });
  const { message } = await (await service.send("/pets")).json();
  assertEquals(message, `The path does not exist: use ${pathsAt("/store/v1")}`);
  const guess = await (await service.sendBare("/v1/docs")).json();
  const right = "/store/docs or /store/openapi.json";
  assertEquals(guess.message, `The path does not exist: use ${right}`);
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

Deno.test("the name of a field or of a parameter is repeated without a key, also if the key is cut", async () => {
  await using service = await openTestService();
  const { add, send, token } = service;
  for (
    const [length, shown] of [[0, "pets_…"], [40, `${"x".repeat(40)}pets_…`], [
      48,
      `${"x".repeat(48)}pe…`,
    ]] as const
  ) {
    const name = `${"x".repeat(length)}${token}`;
    const field = new RegExp(`^Field "${shown}" is not known`);
    const parameter = new RegExp(`^Query parameter "${shown}" is not known`);
    const expected = { status: 400 };
    await assertError(await add({ ...REX, [name]: 1 }), {
      ...expected,
      code: "invalid_body",
      message: field,
    });
    const repeated = `{"name":"Rex","categoryId":1,"${name}":1,"${name}":1}`;
    await assertError(await add(repeated), { ...expected, code: "invalid_body", message: field });
    await assertError(await send(`/v1/pets?${name}=1`), {
      ...expected,
      code: "invalid_parameter",
      message: parameter,
    });
  }
});
