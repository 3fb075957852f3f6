import { METHODS } from "./methods.ts";
import { errorOf, refusal, type Section, type Story } from "./story.ts";

const OPERATIONS = [
  ["listPets", "GET /pets", ""],
  ["createPet", "POST /pets", '> {"name":"Rex","categoryId":7}'],
  ["getPet", "GET /pets/1", ""],
];

const CREDENTIALS_OF_NOBODY = [
  ["without a key", "(none)"],
  ["with a key that is not known", "Bearer nobody"],
  ["with the key in another scheme", "Basic {key}"],
  ["with the key alone", "{key}"],
];

const refusalsOf = ([operation, request, body]: string[]): Story[] =>
  CREDENTIALS_OF_NOBODY.map(([what, value]) => ({
    clause: `${operation} ${what} gets 401`,
    told: `
      > ${request}
      > authorization: ${value}
      ${body}
      < 401
      < content-type: application/json…
      < ${refusal(401)}
    `,
  }));

const USE_BEARER = "Authorization: Bearer <API_KEY>";
const REQUIRED = `An API key is required: ${USE_BEARER}`;
const NOT_BEARER = `The Authorization header is not Bearer with an API key: send ${USE_BEARER}`;
const MISTYPED =
  "The API key is mistyped or cut off: a key is pets_ and 72 digits and letters from a to f";
const QUOTED = `The API key has quotes or "Bearer" around it: send only ${USE_BEARER}`;

/** A key that nobody has. Its last digits are right. */
const UNKNOWN = `pets_${"0".repeat(64)}f9201a9c`;

const MISSING: [what: string, value: string, message: string][] = [
  ["without a key", "(none)", REQUIRED],
  ["with an empty Authorization", "", REQUIRED],
  ["with the scheme alone", "Bearer", NOT_BEARER],
  ["without a space before the key", "Bearer{key}", NOT_BEARER],
  ["with the key alone", "{key}", NOT_BEARER],
  ["with another scheme", "Basic cGV0czpw", NOT_BEARER],
];

const INVALID: [what: string, value: string, message: string][] = [
  ["with a key in quotes", 'Bearer "{key}"', QUOTED],
  ["with a key in single quotes", "Bearer '{key}'", QUOTED],
  ["with the scheme twice", "Bearer bearer {key}", QUOTED],
  ["with a word", "Bearer secret", MISTYPED],
  ["with a key and a digit more", "Bearer {key}0", MISTYPED],
  ["with a key that is cut off", `Bearer ${UNKNOWN.slice(0, -1)}`, MISTYPED],
  ["with a key in capitals", `Bearer ${UNKNOWN.toUpperCase()}`, MISTYPED],
  ["with two keys", "Bearer {key}, Bearer {key}", MISTYPED],
  ["with a key that is not known", `Bearer ${UNKNOWN}`, "The API key is not known"],
];

/** HAProxy refuses it itself. */
const TOO_LONG = "the length of the body";

/** Requests that would be refused for another reason if the key were checked later. */
const WRONG_REQUESTS: [what: string, request: string, rest: string][] = [
  ["the path", "GET /horses", ""],
  ["the method", "DELETE /pets", ""],
  ["OPTIONS", "OPTIONS /pets", ""],
  ["the query", "GET /pets?colour=red", ""],
  ["the body", "POST /pets", "> {"],
  [TOO_LONG, "POST /pets", `> ${"x".repeat(100_000)}`],
  ["the id", "PATCH /pets/x", '> if-match: x\n> {"status":"sold"}'],
];

const INVALID_TOKEN = 'Bearer error="invalid_token"';

/** Requests that write. A body that is not JSON shows that it is not looked at. */
const WRITES = [
  ...["POST /pets", "PATCH /pets/{nobody}", "POST /pets/batch", "PUT /categories/{category}"]
    .map((request) => [request, "> {"]),
  ...["DELETE /pets/{nobody}", "POST /pets/{nobody}/restore", "DELETE /categories/{category}"]
    .map((request) => [request, ""]),
];

/** Also `/window`, whose script is made by a program (`http/window_page_test`). */
const PUBLIC_PATHS = ["/healthz", "/openapi.json", "/docs"];

/** What browsers accept that open an address. */
const PAGE = "> accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/** Relative to their path, so that they work behind any proxy. */
const REDIRECTS = [
  ["/../", "window"],
  ["/../window/", "../window"],
  ["/../docs/", "../docs"],
  ["/../v1", "docs"],
  ["/", "../docs"],
  ["/../favicon.ico", "docs/icon.svg"],
];

export const CREDENTIALS: Section = {
  title: "5 Authentication",
  contract: OPERATIONS.flatMap(refusalsOf),
  beyond: [
    ...METHODS.map(([path, allow]): Story => ({
      clause: `each method of ${path} needs a key`,
      told: allow.replace(", OPTIONS", "").split(", ").map((method) => `
        > ${method} ${path}
        > authorization: (none)
        < 401
        < www-authenticate: Bearer
      `).join(""),
    })),
    ...MISSING.map(([what, value, message]): Story => ({
      clause: `a request ${what} gets 401 missing_credentials, which says what to send`,
      told: `
        > GET /pets
        > authorization: ${value}
        < 401
        < www-authenticate: Bearer
        < cache-control: no-store
        < ${errorOf(401, "missing_credentials", message)}
      `,
    })),
    ...["X-API-Key", "Api-Key"].map((name): Story => ({
      clause: `a key in ${name} gets 401, which says where it belongs`,
      told: `
        > GET /pets
        > authorization: (none)
        > ${name.toLowerCase()}: {key}
        < 401
        < www-authenticate: Bearer
        < ${
        errorOf(
          401,
          "missing_credentials",
          `The API key is not read from ${name}: send it as ${USE_BEARER}`,
        )
      }
      `,
    })),
    ...INVALID.map(([what, value, message]): Story => ({
      clause: `a request ${what} gets 401 invalid_credentials, which says what is wrong`,
      told: `
        > GET /pets
        > authorization: ${value}
        < 401
        < www-authenticate: ${INVALID_TOKEN}
        < ${errorOf(401, "invalid_credentials", message)}
      `,
    })),
    {
      clause: "the scheme has any case",
      told: `
        > GET /key
        > authorization: bearer {key}
        < 200
      `,
    },
    {
      clause: "several spaces may be before the key",
      told: `
        > GET /key
        > authorization: Bearer   {key}
        < 200
      `,
    },
    ...WRONG_REQUESTS.map(([what, request, rest]): Story => ({
      clause: `the key is checked before ${what}`,
      needs: what === TOO_LONG ? ["no proxy"] : [],
      told: `
        > ${request}
        > authorization: (none)
        ${rest}
        < 401
        < ${errorOf(401, "missing_credentials", REQUIRED)}
        > ${request}
        > authorization: Bearer nonsense
        ${rest}
        < 401
        < ${errorOf(401, "invalid_credentials", MISTYPED)}
        > ${request}
        > authorization: Bearer ${UNKNOWN}
        ${rest}
        < 401
        < ${errorOf(401, "invalid_credentials", "The API key is not known")}
      `,
    })),
    ...WRITES.map(([request, body]): Story => ({
      clause: `${request} with a key that may only read gets 403, whatever its body`,
      needs: ["a read-only key"],
      told: `
        > ${request}
        > authorization: Bearer {readOnlyKey}
        ${body}
        < 403
        < www-authenticate: Bearer error="insufficient_scope"
        < ${errorOf(403, "read_only_key", "The API key may only read: use a key that may write")}
      `,
    })),
    {
      clause: "a key that may only read reads what another one has written",
      needs: ["a read-only key"],
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        > GET /pets?categoryId={category}
        > authorization: Bearer {readOnlyKey}
        < 200
        < [{"id":{rex},"name":"Rex","categoryId":{category}}]
      `,
    },
    ...PUBLIC_PATHS.map((path): Story => ({
      clause: `${path} needs no key`,
      told: `
        > GET /..${path}
        > authorization: (none)
        < 200
      `,
    })),
    ...REDIRECTS.map(([path, location]): Story => ({
      clause: `a browser that opens ${path} comes to ${location}, without a key`,
      told: `
        > GET ${path}
        > authorization: (none)
        ${PAGE}
        < 302
        < location: ${location}
      `,
    })),
    ...["/../v1", "/"].map((path): Story => ({
      clause: `a client that is no browser finds nothing at the base address: ${path}`,
      told: `
        > GET ${path}
        > accept: application/json, */*
        < 404
        < ${errorOf(404, "not_found")}
      `,
    })),
    {
      clause: "a key that was revoked gets 401 with its next request",
      needs: ["a read-only key", "an operator"],
      told: `
        > GET /key
        > authorization: Bearer {readOnlyKey}
        < 200
        ~ the read-only key is revoked
        > GET /key
        > authorization: Bearer {readOnlyKey}
        < 401
        < www-authenticate: Bearer error="invalid_token"
        < ${errorOf(401, "invalid_credentials", "The API key is revoked")}
      `,
    },
    {
      clause: "a key that was replaced is valid until its time is over",
      needs: ["a read-only key", "an operator", "a clock"],
      told: `
        ~ the read-only key is replaced, and valid for 24 hours more
        ~ 23 hours pass
        > GET /key
        > authorization: Bearer {readOnlyKey}
        < 200
        < {"id":"…","label":"…","readOnly":true,"expiresAt":"…"}
        ~ 1 hour passes
        > GET /key
        > authorization: Bearer {readOnlyKey}
        < 401
        < ${errorOf(401, "invalid_credentials", "The API key is revoked")}
      `,
    },
  ],
};
