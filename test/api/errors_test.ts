/**
 * Errors of the interface (section 7) that are in no story: what a client sends, and what comes back. A row has the
 * message of the Error, and then requests that get it.
 */

import { APPLICATION } from "../../src/application.ts";
import { assert, assertEquals } from "@std/assert";
import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import { ERRORS } from "../../src/api/errors.ts";
import { BODY_LIMIT_MS } from "../../src/api/requests/request_body.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { HOLD_BACK_MS } from "../../src/http/limits/rate_limiter.ts";
import { CLAUSES } from "../interface/sections.ts";
import { DESCRIPTION } from "../support/assert_described.ts";
import { URL_WITHOUT_HOST } from "../support/fetch_from.ts";
import { assertError } from "../support/assert_error.ts";
import { openTestService, type TestService, WEBHOOK_KEYS } from "../support/test_service.ts";

type Send = (service: TestService) => Promise<Response>;

/**
 * A request as text: the method, the path and perhaps a JSON body, with an API key that may write; other headers follow
 * it. A function sends what this cannot say.
 */
type Sent = string | [request: string, headers: Record<string, string>] | Send;

function send(service: TestService, sent: Sent): Promise<Response> {
  if (typeof sent === "function") return sent(service);
  const [text, headers] = typeof sent === "string" ? [sent, {}] : sent;
  const [, method, path, body] = /^(\S+) (\S+)(?: ([^]*))?$/.exec(text)!;
  const type = { "content-type": "application/json" };
  const init = { method, body, headers: body === undefined ? headers : { ...type, ...headers } };
  return service.send(path, init);
}

/** The same request, with each of these values of a header. */
const withEach = (request: string, name: string, values: string[]) =>
  values.map((value): Sent => [request, { [name]: value }]);

const bare = (path: string): Send => ({ sendBare }) => sendBare(path);

/** An addition with a body that does not end unless the source ends it. */
const addStream = ({ send }: Pick<TestService, "send">, source: UnderlyingDefaultSource) =>
  send("/v1/pets", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new ReadableStream(source),
  });

/** All paths of the interface, in the words of a message. */
function pathsAt(base: string): string {
  const paths = Object.keys(DESCRIPTION.paths).map((path) => base + path);
  return `${paths.slice(0, -1).join(", ")} or ${paths.at(-1)}`;
}

/** The id of no webhook. */
const NOBODY = "01HZZZZZZZ9999999999999999";

const REX = '{"name":"Rex","categoryId":1}';
const ADD = `POST /v1/pets ${REX}`;

/** By status and code. */
const CASES: Record<string, [message: string, ...requests: Sent[]][]> = {
  "400 malformed_request": [
    [
      "The Host header is missing",
      ({ fetch }) => fetch(new Request(`${URL_WITHOUT_HOST}v1/pets`)),
    ],
    [
      "The Host header must be one host name with or without a port",
      ...withEach("GET /v1/pets", "host", ["localhost/healthz?", "a b", "me@localhost", "a#b"]),
      ...withEach("GET /v1/pets", "host", ["<script>", "a:b", "a:123456"]),
    ],
    ["Content-Length must be one whole number", [ADD, { "content-length": "1, 2" }]],
  ],

  "429 rate_limited": [
    ["The rate limit of an API key is 1 per second", async ({ send, runtime }) => {
      for (let count = 0; count < 2; count++) await (await send("/v1/pets")).body?.cancel();
      const pending = send("/v1/pets");
      await runtime.advance(HOLD_BACK_MS);
      return await pending;
    }],
  ],

  "400 invalid_parameter": [
    [
      `Query parameter "${
        "x".repeat(50)
      }…" is not known: use limit, status, categoryId, cursor, ids, name, q, order, removed`,
      `GET /v1/pets?${"x".repeat(5_000)}=1`,
    ],
  ],
  "408 request_timeout": [
    ["The body did not arrive within 10000 ms", async (service) => {
      const pending = addStream(service, {});
      await service.runtime.advance(BODY_LIMIT_MS);
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
      "POST /v1/pets  \r\n\t",
    ],
    [
      "The body is not valid UTF-8",
      ...[[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]
        .map((bytes): Send => ({ add }) => add(Uint8Array.of(0x7b, ...bytes, 0x7d))),
    ],
  ],

  "409 webhooks_off": [
    [
      "Webhooks are off, because the operator has given the service no WEBHOOK_KEY",
      'POST /v1/webhooks {"url":"https://shop.example"}',
      `PATCH /v1/webhooks/${NOBODY} {"description":"test"}`,
      `DELETE /v1/webhooks/${NOBODY}`,
      `POST /v1/webhooks/${NOBODY}/secret`,
    ],
  ],

  "503 not_ready": [
    ["The store is in memory and is lost when the process ends", bare("/readyz")],
  ],
};

for (const [name, cases] of Object.entries(CASES)) {
  Deno.test(`${name} says what is wrong and what to do, and nothing is stored`, async () => {
    const [status, code] = name.split(" ");
    for (const [message, ...requests] of cases) {
      for (const sent of requests) {
        const rateLimit = code === "rate_limited" ? 1 : undefined;
        const webhookKeys = code === "webhooks_off" ? undefined : WEBHOOK_KEYS;
        await using service = await openTestService({ rateLimit, webhookKeys });
        const response = await send(service, sent);
        const text = await response.clone().text();
        assertEquals(JSON.parse(text).message, message, String(sent).slice(0, 200));
        await assertError(response, { status: Number(status), code });
        for (const secret of ["secret", service.token.slice(5)]) assert(!text.includes(secret));
        assertEquals(lastPetIdOf((await readHead(APPLICATION, service.store)).head), 0);
      }
    }
  });
}

Deno.test("every error code is in a story or has a test here", () => {
  const ofStories = CLAUSES.flatMap(({ told }) => [...told.matchAll(/"code":"(\w+)"/g)])
    .map(([, code]) => code);
  const ofRequests = Object.keys(CASES).map((name) => name.split(" ")[1]);
  const tested = new Set([...ofStories, ...ofRequests]);
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
    await assertError(await add({ name: "Rex", categoryId: 1, [name]: 1 }), {
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
