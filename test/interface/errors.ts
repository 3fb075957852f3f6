import { errorOf, type Section, type Story } from "./story.ts";

const UNKNOWN = errorOf(
  404,
  "not_found",
  "The path does not exist: use …/pets, …/pets/summary, … or …/key",
);

const UNKNOWN_PATHS: [what: string, request: string][] = [
  ["with a slash at its end", "GET /pets/"],
  ["with two slashes", "GET //pets"],
  ["in capitals", "GET /../V1/Pets"],
  ["without the version", "GET /../pets"],
  ["without the version, of an animal", "GET /../pets/secret"],
  ["with the version twice", "GET /v1/pets?limit=1"],
  ["of another version", "POST /../v2/pets"],
  ["below an animal", "GET /pets/7/owners"],
  ["that is the base address", "GET /../v1"],
  ["that is the base address and a slash", "GET /"],
  ["with a parameter that is not known, too", "GET /nothing?a=1"],
];

/** Where people look for a reference. */
const GUESSES = [
  ...["GET /docs", "GET /openapi.json", "GET /../swagger.json", "GET /../swagger-ui/index.html"],
  ...["GET /../openapi.yaml", "GET /../v3/api-docs", "GET /../redoc", "POST /../swagger"],
];

const invalid = (message: string) => errorOf(400, "invalid_parameter", message);

/** Requests that take no parameter, with their bodies. */
const WITHOUT_PARAMETERS: [request: string, body: string][] = [
  ["POST /pets", '> {"name":"Rex","categoryId":7}'],
  ["POST /pets/batch", '> {"operations":[]}'],
  ["GET /pets/{nobody}", ""],
  ["PATCH /pets/{nobody}", '> {"status":"sold"}'],
  ["DELETE /pets/{nobody}", ""],
  ["POST /pets/{nobody}/restore", ""],
  ["GET /categories", ""],
  ["GET /categories/counts", ""],
  ["GET /categories/{category}", ""],
  ["PUT /categories/{category}", '> {"name":"Dogs"}'],
  ["DELETE /categories/{category}", ""],
  ["GET /key", ""],
];

/** Those of lists and of the feed are in the files of these. */
const WITH_QUERIES: [request: string, body: string][] = [
  ...WITHOUT_PARAMETERS,
  ["GET /pets/{nobody}/events", ""],
  ["GET /categories/{category}/events", ""],
];

export const ERRORS: Section = {
  title: "7 Errors",
  contract: [],
  beyond: [
    ...UNKNOWN_PATHS.map(([what, request]): Story => ({
      clause: `a path ${what} gets 404, which names the paths that there are`,
      told: `
        > ${request}
        < 404
        < cache-control: no-store
        < ${UNKNOWN}
      `,
    })),
    ...GUESSES.map((request): Story => ({
      clause: `${request.replace("/..", "")} gets 404, which names the reference, without a key`,
      told: `
        > ${request}
        > authorization: (none)
        < 404
        < ${errorOf(404, "not_found", "The path does not exist: use …/docs or …/openapi.json")}
      `,
    })),
    {
      clause:
        "a file that the reference or the window does not have gets 404, which names the page",
      told: `
        > GET /../docs/unknown.css
        > authorization: (none)
        < 404
        < ${errorOf(404, "not_found", "The path does not exist: use …/docs")}
        > GET /../window/window_page.ts
        > authorization: (none)
        < 404
        < ${errorOf(404, "not_found", "The path does not exist: use …/window")}
      `,
    },
    {
      clause: "each response has an X-Request-Id of its own, also an error",
      told: `
        > GET /key
        < 200
        < x-request-id: {one}
        > GET /nothing
        < 404
        < x-request-id: {another}
      `,
    },
    ...WITHOUT_PARAMETERS.map(([request, body]): Story => ({
      clause: `${request} with a parameter gets 400`,
      told: `
        > ${request}?limit=1
        ${body}
        < 400
        < ${invalid('Query parameter "limit" is not known: this operation takes none')}
      `,
    })),
    ...WITH_QUERIES.map(([request, body]): Story => ({
      clause: `${request} with a parameter that is not UTF-8 gets 400`,
      told: `
        > ${request}?limit=%FF
        ${body}
        < 400
        < ${invalid('Query parameter "limit" is not valid UTF-8')}
        > ${request}?na%EBme=x
        ${body}
        < 400
        < ${invalid('Query parameter "na\ufffdme" is not valid UTF-8')}
      `,
    })),
  ],
};
