/**
 * The OpenAPI 3.1 description of the interface (https://spec.openapis.org/oas/v3.1.1). It is generated from
 * the schemas and tables that the code itself uses for validation and responses.
 */

import { z } from "zod";
import { NewPet, Pet, PetStatus } from "../../../events/pet.ts";
import { NEVER_STORED } from "../http_response.ts";
import { ENTITY_TAG_PATTERN, entityTag } from "../conditional_read.ts";
import { CHALLENGES, type ErrorCode, ERRORS, RETRY_AFTER_SECONDS } from "../errors.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH, IDEMPOTENCY_KEY_PATTERN } from "../idempotency_key.ts";
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from "../page_query.ts";
import { DEPRECATION_HEADERS, READ_HEADERS } from "../pets.ts";
import { BODY_LIMIT_BYTES, BODY_LIMIT_MS } from "../request_body.ts";
import { type ApiOperation, type ApiRoute, BASE_PATH, PETS_PATH, ROUTES } from "../routes.ts";

/** The addresses of the service for clients; their paths end in /v1. */
export interface BaseAddresses {
  production?: string;
  staging?: string;
}

/** The description as JSON text. */
export function describeInterface(addresses: BaseAddresses): string {
  const description = {
    openapi: "3.1.1",
    info: {
      title: "Animal Store",
      version: "1.0.0",
      summary: "A catalogue of the animals offered in a store",
      description: guide(),
      license: { name: "All rights reserved", identifier: "LicenseRef-All-Rights-Reserved" },
    },
    servers: serversOf(addresses),
    tags: [{ name: "Pets", description: "The animals offered in the store" }],
    security: [{ bearerAuth: [] }],
    paths: describePaths(),
    components: {
      schemas: schemasOf({ PetStatus, NewPet, Pet, Error: ErrorBody }),
      headers: HEADERS,
      securitySchemes: {
        bearerAuth: {
          type: "http",
          scheme: "bearer",
          description: "An API key, issued by the operator: `Authorization: Bearer <API_KEY>`",
        },
      },
    },
  };
  return JSON.stringify(description, exactBounds);
}

/** The path items of all routes of the interface. */
function describePaths() {
  const operations: Record<ApiOperation, () => object> = { listPets, createPet, getPet };
  const routes = ROUTES.filter((route): route is ApiRoute => !route.isPublic);
  return Object.fromEntries(routes.map((route) => [
    route.path.slice(BASE_PATH.length),
    Object.fromEntries(
      Object.entries(route.operations).map(([method, operationId]) => [
        method.toLowerCase(),
        { operationId, ...operations[operationId]() },
      ]),
    ),
  ]));
}

const ErrorBody = z.strictObject({
  code: z.enum(Object.keys(ERRORS) as ErrorCode[])
    .meta({ description: "The kind of error, for programs: see the list of error codes" }),
  message: z.string()
    .meta({ description: "A description of the error for people, whose wording may change" }),
  status: z.int().min(400).max(599)
    .meta({ description: "The HTTP status of the response" }),
});

const EXAMPLE_NEW_PET = { name: "Rex", categoryId: 7, status: "available" };
const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET };
const EXAMPLE_TAG = entityTag(JSON.stringify(EXAMPLE_PET));

/** The day of an HTTP date, without its weekday. */
const REMOVAL_DATE = DEPRECATION_HEADERS.sunset.slice(5, 16);

/** Response headers that this interface defines. */
const HEADERS = {
  RequestId: {
    description: "Identifies this response in the operator's logs",
    required: true,
    schema: { type: "string", pattern: "^[0-7][0-9A-HJKMNP-TV-Z]{25}$" },
    example: "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B",
  },
  Challenge: {
    description: "How to authenticate (RFC 6750 section 3)",
    required: true,
    schema: { type: "string", enum: Object.values(CHALLENGES) },
  },
  RetryAfter: {
    description: "Seconds to wait before the next attempt (RFC 9110 section 10.2.3)",
    required: true,
    schema: { type: "integer", minimum: 1 },
    example: RETRY_AFTER_SECONDS,
  },
  RateLimit: {
    description:
      "If the operator has set a limit: how many requests (`r`) the API key can send within the " +
      "next seconds (`t`). See draft-ietf-httpapi-ratelimit-headers-11.",
    schema: { type: "string", pattern: '^"default";r=[0-9]+;t=[12]$' },
    example: '"default";r=199;t=2',
  },
  RateLimitPolicy: {
    description:
      "If the operator has set a limit: how many requests (`q`) an API key can send within a " +
      "number of seconds (`w`)",
    schema: { type: "string", pattern: '^"default";q=[1-9][0-9]*;w=2$' },
    example: '"default";q=200;w=2',
  },
  AcceptEncoding: {
    description: "The accepted content coding, if the body was encoded (RFC 9110 section 12.5.3)",
    schema: { type: "string", const: "identity" },
  },
  NextPage: {
    description: "The address of the next page (RFC 8288); absent on the last page",
    schema: { type: "string", pattern: `^<${PETS_PATH}\\?[^>]+>; rel="next"$` },
    example: `<${PETS_PATH}?limit=20&cursor=81>; rel="next"`,
  },
  EntityTag: {
    description: "Changes exactly when the content changes; for use in `If-None-Match`",
    required: true,
    schema: { type: "string", pattern: ENTITY_TAG_PATTERN.source },
    example: EXAMPLE_TAG,
  },
  PrivateCaching: {
    description: "A client may cache the response, but must revalidate it each time",
    required: true,
    schema: { type: "string", const: READ_HEADERS["cache-control"] },
  },
  NeverStored: {
    description: "The response must not be cached",
    required: true,
    schema: { type: "string", const: NEVER_STORED["cache-control"] },
  },
  Location: {
    description: "The path of the animal that was added",
    required: true,
    schema: { type: "string", pattern: `^${PETS_PATH}/[1-9][0-9]*$` },
    example: `${PETS_PATH}/${EXAMPLE_PET.id}`,
  },
  IdempotencyReplayed: {
    description: "Present if the response repeats that of an earlier request with the same key",
    schema: { type: "string", const: "true" },
  },
  Deprecation: {
    description: "The date since which the operation is deprecated (RFC 9745)",
    required: true,
    schema: { type: "string", const: DEPRECATION_HEADERS.deprecation },
  },
  Sunset: {
    description: "The date on which the operation will be removed (RFC 8594)",
    required: true,
    schema: { type: "string", const: DEPRECATION_HEADERS.sunset },
  },
  Successor: {
    description: "The replacement of the operation (RFC 5829)",
    required: true,
    schema: { type: "string", const: DEPRECATION_HEADERS.link },
  },
};

const COMMON_HEADERS: Headers = {
  "X-Request-Id": "RequestId",
  "RateLimit": "RateLimit",
  "RateLimit-Policy": "RateLimitPolicy",
};

const CACHING: Headers = { "Cache-Control": "PrivateCaching", ETag: "EntityTag" };

const WARNINGS: Headers = {
  Deprecation: "Deprecation",
  Sunset: "Sunset",
  Link: "Successor",
};

/** The headers of an error response, by status. */
const ERROR_HEADERS: Record<number, Headers> = {
  401: { "WWW-Authenticate": "Challenge" },
  403: { "WWW-Authenticate": "Challenge" },
  415: { "Accept-Encoding": "AcceptEncoding" },
  429: { "Retry-After": "RetryAfter" },
  503: { "Retry-After": "RetryAfter" },
};

/** Error codes that every operation can return. */
const EVERY_OPERATION = [
  "malformed_request",
  "missing_credentials",
  "invalid_credentials",
  "rate_limited",
  "internal_error",
  "projection_damaged",
  "shutting_down",
  "store_unavailable",
] as const;

const IF_NONE_MATCH = {
  name: "If-None-Match",
  in: "header",
  description: "The `ETag` of a cached response. If it is still current, the status is 304",
  // No example: a page that fills it in would sometimes get 304 unexpectedly.
  schema: { type: "string" },
};

function listPets() {
  return {
    tags: ["Pets"],
    summary: "List animals",
    description: "Lists the animals of the store, newest first, one page at a time.",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "The maximum number of animals on a page",
        schema: {
          type: "integer",
          minimum: LIMIT_MIN,
          maximum: LIMIT_MAX,
          default: LIMIT_DEFAULT,
        },
      },
      {
        name: "status",
        in: "query",
        description: "Lists only animals of this availability; by default all animals",
        schema: schemaRef("PetStatus"),
      },
      {
        name: "cursor",
        in: "query",
        description: "The start of the page, taken from the `Link` header of the previous page",
        schema: { type: "string", pattern: "^[1-9][0-9]{0,18}$" },
      },
      IF_NONE_MATCH,
    ],
    responses: {
      200: success(
        "A page of animals; the `Link` header names the next page, if there is one",
        { Link: "NextPage", ...CACHING },
        { type: "array", items: schemaRef("Pet"), maxItems: LIMIT_MAX },
        [EXAMPLE_PET],
      ),
      304: notModified({ Link: "NextPage" }),
      ...errors([...EVERY_OPERATION, "invalid_parameter"]),
    },
  };
}

function createPet() {
  return {
    tags: ["Pets"],
    summary: "Add an animal",
    description: "Adds an animal. The service assigns its `id`. An omitted `status` stays absent.",
    parameters: [
      {
        name: "Idempotency-Key",
        in: "header",
        description: "Makes a retry safe: a new UUID for each animal, reused for every retry",
        // No example: a page that fills it in would send the same key with every animal.
        schema: { type: "string", pattern: IDEMPOTENCY_KEY_PATTERN.source },
      },
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: schemaRef("NewPet"), example: EXAMPLE_NEW_PET } },
    },
    responses: {
      201: success(
        "The animal was added, by this request or by an earlier one with the same key",
        {
          Location: "Location",
          "Idempotency-Replayed": "IdempotencyReplayed",
          "Cache-Control": "NeverStored",
        },
        schemaRef("Pet"),
        EXAMPLE_PET,
      ),
      ...errors([
        ...EVERY_OPERATION,
        "read_only_key",
        "invalid_parameter",
        "invalid_idempotency_key",
        "malformed_body",
        "invalid_body",
        "request_timeout",
        "body_too_large",
        "unsupported_media_type",
        "idempotency_key_reused",
        "outcome_unknown",
        "overloaded",
      ]),
    },
  };
}

function getPet() {
  return {
    tags: ["Pets"],
    summary: "Get an animal",
    description: `Returns one animal. This operation will be removed on ${REMOVAL_DATE}: ` +
      "use `listPets` with a `status` instead.",
    deprecated: true,
    parameters: [
      {
        name: "petId",
        in: "path",
        required: true,
        description: "The identifier of the animal",
        schema: { type: "integer", format: "int64" },
        example: EXAMPLE_PET.id,
      },
      IF_NONE_MATCH,
    ],
    responses: {
      200: success("The animal", { ...WARNINGS, ...CACHING }, schemaRef("Pet"), EXAMPLE_PET),
      304: notModified(WARNINGS),
      ...errors([...EVERY_OPERATION, "invalid_parameter", "pet_not_found"], {
        404: WARNINGS,
      }),
    },
  };
}

/** Headers of a response, each with the name of its component. */
type Headers = Record<string, keyof typeof HEADERS>;

function success(description: string, headers: Headers, schema: object, example: unknown) {
  return {
    description,
    headers: headerRefs(headers),
    content: { "application/json": { schema, example } },
  };
}

function notModified(headers: Headers) {
  return {
    description: "The content is still the one that `If-None-Match` names",
    headers: headerRefs({ ...headers, ...CACHING }),
  };
}

/** The error responses of an operation by status, built from the codes that it can return. */
function errors(codes: ErrorCode[], headers: Record<number, Headers> = {}) {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    Array.from(byStatus, ([status, codes]) => [status, {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join("\n\n"),
      headers: headerRefs({
        "Cache-Control": "NeverStored",
        ...ERROR_HEADERS[status],
        ...headers[status],
      }),
      content: {
        "application/json": {
          schema: schemaRef("Error"),
          examples: Object.fromEntries(codes.map((code) => [code, errorExample(code)])),
        },
      },
    }]),
  );
}

function errorExample(code: ErrorCode) {
  const { status, when } = ERRORS[code];
  return { summary: code, value: { code, message: when, status } };
}

function headerRefs(headers: Headers) {
  return Object.fromEntries(
    Object.entries({ ...COMMON_HEADERS, ...headers })
      .map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  );
}

function schemaRef(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

function serversOf({ production, staging }: BaseAddresses) {
  const servers = [
    ...(production === undefined ? [] : [{ url: production, description: "Production" }]),
    ...(staging === undefined ? [] : [{ url: staging, description: "Staging" }]),
  ];
  return servers.length > 0 ? servers : [{ url: BASE_PATH, description: "This service" }];
}

/** The JSON Schemas of the named zod schemas, which refer to each other by these names. */
function schemasOf(named: Record<string, z.ZodType>) {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    // The JSON form that clients see, before parsing turns a number into the type that the code uses.
    io: "input",
    unrepresentable: "any",
    uri: (id) => schemaRef(id).$ref,
    override: ({ zodSchema, jsonSchema }) => {
      if (!(zodSchema instanceof z.ZodBigInt)) return;
      const [minimum, maximum] = [String(zodSchema.minValue), String(zodSchema.maxValue)];
      Object.assign(jsonSchema, { type: "integer", format: "int64", minimum, maximum });
    },
  });
  for (const schema of Object.values(schemas)) {
    delete schema.$id;
    delete schema.$schema;
  }
  return schemas;
}

/**
 * Writes bounds given as text as JSON numbers with all their digits, which a JavaScript number cannot hold.
 */
function exactBounds(name: string, value: unknown): unknown {
  const isBound = (name === "minimum" || name === "maximum") && typeof value === "string";
  return isBound ? rawJson(value) : value;
}

// TypeScript does not declare rawJSON yet (https://github.com/tc39/proposal-json-parse-with-source).
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

function guide(): string {
  const codes = Object.entries(ERRORS).map(([code, { status, when, remedy }]) =>
    `| \`${code}\` | ${status} | ${when} | ${remedy} |`
  );
  return `
Every operation needs an API key: \`Authorization: Bearer <API_KEY>\`. All bodies are JSON in UTF-8.

## Integers

Identifiers are 64-bit integers. \`id\` is safe in every JSON client; a \`categoryId\` beyond 2^53 is
stored exactly and needs a client that reads it exactly.

## Pages

A list is an array of at most \`limit\` animals (${LIMIT_MIN} to ${LIMIT_MAX}, by default
${LIMIT_DEFAULT}), newest first. Its \`Link\` header names the next page, and is absent on the last
page. Paging neither skips nor repeats an animal, even if animals are added meanwhile.

## Safe retries

A request that failed with 503, or that got no response, may have added the animal. To retry safely,
send an \`Idempotency-Key\` (1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters, such as a UUID): a new value for
each animal, reused for every retry. Within 24 hours, the animal is added only once. A retry gets the
first response again, with \`Idempotency-Replayed: true\`. The value is valid only for the API key that
it was first sent with.

## Polling

Lists and animals have an \`ETag\`. Send it back as \`If-None-Match\`: if the content is unchanged, the
response is 304 without a body.

## Limits

| What | Limit |
| --- | --- |
| Body | ${BODY_LIMIT_BYTES / 1024} KiB |
| Time for a body to arrive | ${BODY_LIMIT_MS / 1_000} seconds |
| Animals on a page | ${LIMIT_MAX} |

The operator can also limit the requests of each API key. Every response to a valid key then has the
headers \`RateLimit-Policy\` (\`q\` requests within \`w\` seconds) and \`RateLimit\` (\`r\` requests are left
for the next \`t\` seconds). A request beyond the limit has no effect. After about a second, it gets 429
\`rate_limited\` with \`Retry-After\`.

A field or a query parameter that is not described here is rejected, not ignored.

## Deprecation

A deprecated operation has \`Deprecation\` and \`Sunset\` headers, and a \`Link\` to its replacement.
\`getPet\` is deprecated and will be removed on ${REMOVAL_DATE}: use \`listPets\` with a \`status\` instead.

## Errors

Every error response has a body of the schema Error: \`code\` is for programs, \`message\` is for people,
and \`status\` is the HTTP status. The operator can find a response by its \`X-Request-Id\`.

| \`code\` | Status | When | What to do |
| --- | --- | --- | --- |
${codes.join("\n")}
`.trim();
}
