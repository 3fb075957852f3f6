/** Servers that break one clause each. */

/** Responds to a request by the right server, or otherwise. */
export type Serve = (request: Request) => Promise<Response>;

export interface WrongServer {
  /** What it does wrong. */
  fault: string;
  /** The name of the clause that it breaks. It may break others, too. */
  breaks: string;
  /** Makes it from the right one, whose `key` may write. */
  wrong(right: Serve, key: string): Serve;
}

/** A fault of the responses to some requests. */
function inResponses(
  isFaulty: (request: Request, response: Response) => boolean,
  spoil: (response: Response, request: Request) => Response | Promise<Response>,
): WrongServer["wrong"] {
  return (right) => async (request) => {
    const response = await right(request);
    return isFaulty(request, response) ? await spoil(response, request) : response;
  };
}

/** A fault of how some requests are understood. */
function inRequests(
  isMistaken: (request: Request) => boolean,
  mistake: (request: Request) => Request | Promise<Request>,
): WrongServer["wrong"] {
  return (right) => async (request) => {
    return await right(isMistaken(request) ? await mistake(request) : request);
  };
}

const isA = (method: string, path = /./) => (request: Request) =>
  request.method === method && path.test(new URL(request.url).pathname);

const isAddition = isA("POST", /\/pets$/);
const isList = isA("GET", /\/pets$/);
const isRead = isA("GET");
const isWrite = (request: Request) => !isRead(request);
const isFeed = isA("GET", /\/v1\/events$/);
const isBatch = isA("POST", /\/batch$/);

/** The response with other headers; `undefined` removes one. */
function withHeaders(response: Response, changed: Record<string, string | undefined>): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(changed)) {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  return new Response(response.body, { status: response.status, headers });
}

function withStatus(response: Response, status: number): Response {
  return new Response(response.body, { status, headers: response.headers });
}

async function withText(
  response: Response,
  change: (text: string) => string,
): Promise<Response> {
  const { status, headers } = response;
  const text = await response.text();
  return new Response(text === "" ? null : change(text), { status, headers });
}

// deno-lint-ignore no-explicit-any -- the bodies of a faulty server may be anything
type Json = any;

/** Numbers beyond 2^53 are rounded. */
function withJson(response: Response, change: (value: Json) => unknown): Promise<Response> {
  return withText(response, (text) => JSON.stringify(change(JSON.parse(text))));
}

function askedOtherwise(request: Request, change: (url: URL) => void): Request {
  const url = new URL(request.url);
  change(url);
  return new Request(url, request);
}

function withoutParameter(name: string): WrongServer["wrong"] {
  return inRequests(
    isList,
    (request) => askedOtherwise(request, ({ searchParams }) => searchParams.delete(name)),
  );
}

function withoutRequestHeader(name: string): WrongServer["wrong"] {
  return inRequests(isWrite, (request) => {
    const headers = new Headers(request.headers);
    headers.delete(name);
    return new Request(request, { headers });
  });
}

function withoutResponseHeader(name: string): WrongServer["wrong"] {
  return inResponses(() => true, (response) => withHeaders(response, { [name]: undefined }));
}

/** Changes the text of a body before it is read. */
function readsBody(
  isMistaken: (request: Request) => boolean,
  change: (text: string) => string,
): WrongServer["wrong"] {
  return inRequests(isMistaken, async (request) => {
    const { url, method, headers } = request;
    return new Request(url, { method, headers, body: change(await request.text()) });
  });
}

/** Shows another cursor of the next page. */
function withCursor(response: Response, change: (cursor: number) => number): Response {
  const link = response.headers.get("link");
  if (link === null) return response;
  const changed = link.replace(CURSOR, (cursor) => String(change(Number(cursor))));
  return withHeaders(response, { link: changed });
}

const CURSOR = /(?<=[?&]cursor=)\d+/;

/** Moves the cursor of the next page. */
function movesCursor(by: number): WrongServer["wrong"] {
  return inResponses(isList, (response) => withCursor(response, (cursor) => cursor + by));
}

/** A page begins after as many animals as were on those before it. */
function countsAnimals(): WrongServer["wrong"] {
  return (right) => async (request) => {
    if (!isList(request)) return await right(request);
    const { searchParams } = new URL(request.url);
    const count = searchParams.get("cursor");
    const next = Number(count) + Number(searchParams.get("limit"));
    if (count === null) return withCursor(await right(request), () => next);
    const before = await right(askedOtherwise(request, ({ searchParams }) => {
      searchParams.delete("cursor");
      searchParams.set("limit", count);
    }));
    // Nothing is after the last page.
    const [cursor] = CURSOR.exec(before.headers.get("link") ?? "") ?? ["1"];
    const page = await right(
      askedOtherwise(request, ({ searchParams }) => searchParams.set("cursor", cursor)),
    );
    return withCursor(page, () => next);
  };
}

const hasStatus = (status: number) => (_: Request, response: Response) =>
  response.status === status;

const isOk = (request: (request: Request) => boolean) => (it: Request, { ok }: Response) =>
  ok && request(it);

/** Of the contract with its three operations. */
const OF_CONTRACT: WrongServer[] = [
  {
    fault: "a list in an object",
    breaks: "4.1 List animals: a list is a bare array of animals, at most 20 without a limit",
    wrong: inResponses(isOk(isList), (response) => withText(response, (it) => `{"pets":${it}}`)),
  },
  {
    fault: "JSON as text",
    breaks: "4.1 List animals: a list is a bare array of animals, at most 20 without a limit",
    wrong: inResponses(
      isList,
      (response) => withHeaders(response, { "content-type": "text/html" }),
    ),
  },
  {
    fault: "30 animals without a limit",
    breaks: "4.1 List animals: a list is a bare array of animals, at most 20 without a limit",
    wrong: inRequests(isList, (request) =>
      askedOtherwise(request, ({ searchParams }) => {
        if (!searchParams.has("limit")) searchParams.set("limit", "30");
      })),
  },
  {
    fault: "a limit that is not kept",
    breaks: "4.1 List animals: with limit=1, a list has at most as many animals",
    wrong: withoutParameter("limit"),
  },
  {
    fault: "a filter that is not applied",
    breaks: "4.1 List animals: with status=sold, a list has only animals with that status",
    wrong: withoutParameter("status"),
  },
  {
    fault: "a list without the animals that were added",
    breaks:
      "4.1 List animals: an animal that was added is in a list, unless the limit leaves it out",
    wrong: inResponses(isOk(isList), (response) => withText(response, () => "[]")),
  },
  {
    fault: "200 for an addition",
    breaks:
      "4.2 Add an animal: an addition gets 201 and the animal, with an id that the service has assigned",
    wrong: inResponses(hasStatus(201), (response) => withStatus(response, 200)),
  },
  {
    fault: "an addition without its animal",
    breaks:
      "4.2 Add an animal: an addition gets 201 and the animal, with an id that the service has assigned",
    wrong: inResponses(hasStatus(201), (response) => withText(response, () => "{}")),
  },
  {
    fault: "the same id for several animals",
    breaks: "4.2 Add an animal: each animal has an id of its own, also one that is like another",
    wrong: inResponses(
      hasStatus(201),
      (response) => withText(response, (it) => it.replace(/"id":\d+/, '"id":1')),
    ),
  },
  {
    fault: "a number that is rounded in a response",
    breaks: "4.2 Add an animal: categoryId is an int64, exact in both directions: 9007199254740993",
    wrong: inResponses(isOk(isRead), (response) => withJson(response, (it) => it)),
  },
  {
    fault: "a category that is read as a float",
    breaks:
      "4.2 Add an animal: categoryId is an int64, exact in both directions: 9223372036854775807",
    wrong: readsBody(isAddition, (text) =>
      text.replace(/(?<="categoryId":)-?\d{16,}/, (digits) => {
        const rounded = BigInt(Number(digits));
        return String(rounded === 2n ** 63n ? rounded - 1025n : rounded);
      })),
  },
  {
    fault: "a name in lower case",
    breaks: "4.2 Add an animal: a name keeps each character",
    wrong: readsBody(isAddition, (text) => text.replace(/(?<="name":)"[^"]*/, lowerCase)),
  },
  {
    fault: "a name without the blanks at its ends",
    breaks: "4.2 Add an animal: a name keeps each character",
    wrong: readsBody(isAddition, (text) => text.replace(/(?<="name":") +/, "")),
  },
  {
    fault: "a status that is not stored",
    breaks: "4.2 Add an animal: the status may be pending",
    wrong: readsBody(isAddition, (text) => text.replace('"pending"', '"sold"')),
  },
  {
    fault: "500 for JSON that is malformed",
    breaks: "4.2 Add an animal: an addition that is not JSON gets 400",
    wrong: inResponses(
      hasStatus(400),
      (response) => withText(withStatus(response, 500), (it) => it.replace("400", "500")),
    ),
  },
  {
    fault: "a category in quotes that is accepted",
    breaks: "4.2 Add an animal: an addition whose category is a text gets 400",
    wrong: readsBody(isAddition, (text) => text.replace(/(?<="categoryId":)"(\d+)"/, "$1")),
  },
  {
    fault: "an Error with another status in its body",
    breaks: "4.2 Add an animal: an addition without a name gets 400",
    wrong: inResponses(
      hasStatus(400),
      (response) => withText(response, (it) => it.replace('"status":400', '"status":422')),
    ),
  },
  {
    fault: "an Error without a code",
    breaks: "4.3 Get an animal: an id that no animal has gets 404",
    wrong: inResponses(
      hasStatus(404),
      (response) => withText(response, (it) => it.replace('"code"', '"error"')),
    ),
  },
  {
    fault: "200 with null for an animal that is not there",
    breaks: "4.3 Get an animal: an id that no animal has gets 404",
    wrong: inResponses(
      hasStatus(404),
      (response) => withText(withStatus(response, 200), () => "null"),
    ),
  },
  {
    fault: "404 in place of 401",
    breaks: "5 Authentication: listPets without a key gets 401",
    wrong: inResponses(
      hasStatus(401),
      (response) => withText(withStatus(response, 404), (it) => it.replace("401", "404")),
    ),
  },
  {
    fault: "a key that is accepted without its scheme",
    breaks: "5 Authentication: listPets with the key alone gets 401",
    wrong: inRequests(() => true, (request) => {
      const headers = new Headers(request.headers);
      const field = headers.get("authorization");
      if (field?.startsWith("pets_")) headers.set("authorization", `Bearer ${field}`);
      return new Request(request, { headers });
    }),
  },
];

/** Of what this service has beyond the contract. */
const BEYOND_CONTRACT: WrongServer[] = [
  {
    fault: "an addition without Location",
    breaks: "4.2 Add an animal: an addition gets the address of the animal",
    wrong: withoutResponseHeader("location"),
  },
  {
    fault: "a default for the status",
    breaks: "4.2 Add an animal: an animal that was added without a status has none",
    wrong: readsBody(
      isAddition,
      (text) => text.includes('"status"') ? text : text.replace(/}\s*$/, ',"status":"available"}'),
    ),
  },
  {
    fault: "a stale list",
    breaks:
      "4.1 List animals: a list that is read again has each addition, change and removal since",
    wrong: (right) => {
      const texts = new Map<string, string>();
      return async (request) => {
        const response = await right(request);
        if (!isOk(isList)(request, response)) return response;
        return await withText(response, (text) => {
          const first = texts.get(request.url) ?? text;
          texts.set(request.url, first);
          return first;
        });
      };
    },
  },
  {
    fault: "a cursor that skips an animal",
    breaks:
      "4.1 List animals: Link has the address of the next page, and the last page has none: categoryId={category}",
    wrong: movesCursor(-1),
  },
  {
    fault: "an animal that is on two pages",
    breaks:
      "4.1 List animals: Link has the address of the next page, and the last page has none: categoryId={category}",
    wrong: movesCursor(1),
  },
  {
    fault: "a cursor that is an offset",
    breaks:
      "4.1 List animals: paging shows each animal that stays exactly once, although others come and go: categoryId={category}",
    wrong: countsAnimals(),
  },
  {
    fault: "a page without the address of the next one",
    breaks:
      "4.1 List animals: Link has the address of the next page, and the last page has none: categoryId={category}",
    wrong: withoutResponseHeader("link"),
  },
  {
    fault: "an order that is ignored",
    breaks: "4.1 List animals: with order=asc, a list begins with the oldest animal",
    wrong: withoutParameter("order"),
  },
  {
    fault: "an unknown parameter that is ignored",
    breaks: "4.1 List animals: an unknown parameter gets 400, which names those that are known",
    wrong: inRequests(isList, (request) =>
      askedOtherwise(request, ({ searchParams }) => {
        for (const name of [...searchParams.keys()]) {
          const isKnown = /^(limit|order|status|cursor|categoryId|name|q|ids|removed)$/.test(name);
          if (!isKnown) searchParams.delete(name);
        }
      })),
  },
  {
    fault: "a search that looks at case",
    breaks: "4.1 Find animals by words: a search is without regard to case: in lower case",
    wrong: inResponses(isOk(isList), (response, { url }) => {
      const word = new URL(url).searchParams.get("name");
      if (word === null) return response;
      return withJson(
        response,
        (pets) =>
          pets.filter(({ name }: Json) => word.split(/[\s,]+/).every((it) => name.includes(it))),
      );
    }),
  },
  {
    fault: "a read that does not say that it is deprecated",
    breaks:
      "4.3 Get an animal: a read says that the operation is deprecated, when it ends and what replaces it",
    wrong: withoutResponseHeader("sunset"),
  },
  {
    fault: "a change that loses the other fields",
    breaks: "4.4 Change an animal: a change gets the animal as it is now, as each read has it",
    wrong: inResponses(
      isOk(isA("PATCH")),
      (response) => withText(response, (it) => it.replace(/,"status":"\w+"/, "")),
    ),
  },
  {
    fault: "null that changes nothing",
    breaks: "4.4 Change an animal: null removes a field that an animal need not have",
    wrong: readsBody(isA("PATCH"), (text) => text.replace(/"status":null/, '"status":"sold"')),
  },
  {
    fault: "a removed animal that is still read",
    breaks: "4.6 Remove an animal: a removed animal cannot be read, changed or removed",
    wrong: (right) => {
      const texts = new Map<string, string>();
      return async (request) => {
        const response = await right(request);
        const { pathname } = new URL(request.url);
        if (response.status === 201) {
          const text = await response.clone().text();
          texts.set(`${pathname}/${/"id":(\d+)/.exec(text)?.[1]}`, text);
        }
        const before = texts.get(pathname);
        const isGone = isRead(request) && response.status === 404 && before !== undefined;
        return isGone ? withText(withStatus(response, 200), () => before) : response;
      };
    },
  },
  {
    fault: "a removal with a body",
    breaks: "4.6 Remove an animal: a removal gets 204 and no body",
    wrong: inResponses(
      isOk(isA("DELETE")),
      ({ headers }) => new Response('{"removed":true}', { headers }),
    ),
  },
  {
    fault: "a history without the removal",
    breaks: "4.7 History of an animal: the history of a removed animal begins with its removal",
    wrong: inResponses(
      isOk(isA("GET", /\/pets\/\d+\/events$/)),
      (response) =>
        withJson(response, (events) => events.filter(({ type }: Json) => type !== "PetRemoved")),
    ),
  },
  {
    fault: "a history that begins with the oldest event",
    breaks:
      "4.7 History of an animal: the history has all that happened to an animal, newest first, with the key",
    wrong: inResponses(
      isOk(isA("GET", /\/pets\/\d+\/events$/)),
      (response) => withJson(response, (events) => events.toReversed()),
    ),
  },
  {
    fault: "a restore under a new id",
    breaks:
      "4.16 Restore a removed animal: a restore gets the animal as it was, with its id and its ETag",
    wrong: inResponses(
      isOk(isA("POST", /\/restore$/)),
      (response) =>
        withText(response, (it) => it.replace(/(?<="id":)\d+/, (id) => String(Number(id) + 1_000))),
    ),
  },
  {
    fault: "two categories with the same name",
    breaks:
      "4.9 to 4.13 Categories: no two categories have the same name: with the same text, the second gets 409",
    wrong: inResponses(
      (request, { status }) => isA("PUT")(request) && status === 409,
      (response) => withText(withStatus(response, 201), () => '{"id":1,"name":"Dogs"}'),
    ),
  },
  {
    fault: "a batch that stops at its first refusal",
    breaks:
      "4.15 Several at once: an operation that is refused gets the Error of a single one, and stops no other",
    wrong: inResponses(isOk(isBatch), (response) =>
      withJson(response, ({ results }) => {
        const at = results.findIndex(({ status }: Json) => status >= 400);
        return { results: at < 0 ? results : results.slice(0, at + 1) };
      })),
  },
  {
    fault: "If-Match that is ignored",
    breaks: "4 Conditions: If-Match refuses a change with 412 if it does not name the ETag",
    wrong: withoutRequestHeader("if-match"),
  },
  {
    fault: "If-None-Match that is ignored by writes",
    breaks: "4 Conditions: If-None-Match: * refuses a change and a removal with 412",
    wrong: withoutRequestHeader("if-none-match"),
  },
  {
    fault: "an ETag that never changes",
    breaks: "4 Conditions: an animal that has changed since its ETag is read again",
    wrong: (right) => async (request) => {
      const etag = '"always"';
      const headers = new Headers(request.headers);
      const isNamed = isRead(request) && headers.get("if-none-match") === etag;
      if (isNamed) return new Response(null, { status: 304, headers: { etag } });
      headers.delete("if-match");
      const response = await right(new Request(request, { headers }));
      return response.headers.has("etag") ? withHeaders(response, { etag }) : response;
    },
  },
  {
    fault: "a retry that is done twice",
    breaks:
      "Idempotency-Key: an addition that is sent again adds nothing and gets the first response",
    wrong: withoutRequestHeader("idempotency-key"),
  },
  {
    fault: "a retry without Idempotency-Replayed",
    breaks:
      "Idempotency-Key: an addition that is sent again adds nothing and gets the first response",
    wrong: withoutResponseHeader("idempotency-replayed"),
  },
  {
    fault: "an unknown field that is ignored",
    breaks: "2 Bodies: an unknown field gets 400 with the fields that there are",
    wrong: readsBody(isAddition, (text) => text.replaceAll(/,"(colour|age)":("[^"]*"|\d+)/g, "")),
  },
  {
    fault: "a body of another media type that is accepted",
    breaks: "2 Bodies: a body in another media type gets 415",
    wrong: inRequests(isAddition, (request) => {
      const headers = new Headers(request.headers);
      headers.set("content-type", "application/json");
      return new Request(request, { headers });
    }),
  },
  {
    fault: "HEAD with 405",
    breaks: "4 Methods: HEAD of /pets/{rex} has the headers of GET",
    wrong: inResponses(isA("HEAD"), (response) => withStatus(response, 405)),
  },
  {
    fault: "405 without Allow",
    breaks: "4 Methods: /pets has the methods GET, HEAD, POST, OPTIONS, and no others",
    wrong: withoutResponseHeader("allow"),
  },
  {
    fault: "a feed without the changes",
    breaks: "4.5 The feed: each addition, change, removal and restore is an event, oldest first",
    wrong: inResponses(
      isOk(isFeed),
      (response) =>
        withJson(response, (events) => events.filter(({ type }: Json) => type !== "PetUpdated")),
    ),
  },
  {
    fault: "a feed in the wrong order",
    breaks: "4.5 The feed: each addition, change, removal and restore is an event, oldest first",
    wrong: inResponses(
      isOk(isFeed),
      (response) => withJson(response, (events) => events.toReversed()),
    ),
  },
  {
    fault: "a feed that continues another log",
    breaks: "4.5 The feed: the id of an event of another log gets 410 feed_reset: alone",
    wrong: inResponses(
      isFeed,
      (response) =>
        response.status === 410 ? withText(withStatus(response, 200), () => "[]") : response,
    ),
  },
  {
    fault: "a key that may only read and that writes",
    breaks:
      "5 Authentication: POST /pets with a key that may only read gets 403, whatever its body",
    wrong: (right, key) => async (request) => {
      const again = request.clone();
      const response = await right(request);
      if (response.status !== 403) return response;
      const headers = new Headers(again.headers);
      headers.set("authorization", `Bearer ${key}`);
      return await right(new Request(again, { headers }));
    },
  },
  {
    fault: "401 without WWW-Authenticate",
    breaks:
      "5 Authentication: a request without a key gets 401 missing_credentials, which says what to send",
    wrong: withoutResponseHeader("www-authenticate"),
  },
  {
    fault: "a response without X-Request-Id",
    breaks: "7 Errors: each response has an X-Request-Id of its own, also an error",
    wrong: withoutResponseHeader("x-request-id"),
  },
  {
    fault: "counts that include removed animals",
    breaks: "4.17 Count animals by status: the animals of a category are counted",
    wrong: inResponses(
      isOk(isA("GET", /\/summary$/)),
      (response) =>
        withJson(response, ({ counts, ...rest }) => {
          return { counts: { ...counts, sold: counts.sold + 1 }, ...rest };
        }),
    ),
  },
];

export const WRONG_SERVERS: readonly WrongServer[] = [...OF_CONTRACT, ...BEYOND_CONTRACT];

function lowerCase(text: string): string {
  return text.toLowerCase();
}
