/**
 * The OpenAPI 3.1 description of the interface (https://spec.openapis.org/oas/v3.1.1). It is generated from
 * the schemas and tables that the code itself uses for validation and responses.
 */

import { z } from "zod";
import { INT64_MAX, INT64_MIN } from "../../../events/int64.ts";
import { NewPet, Pet, PetPatch, PetStatus } from "../../../events/pet.ts";
import { NEVER_STORED } from "../http_response.ts";
import { ENTITY_TAG_PATTERN, entityTag } from "../conditional_read.ts";
import { CHALLENGES, type ErrorCode, ERRORS, RETRY_AFTER_SECONDS } from "../errors.ts";
import {
  IDEMPOTENCY_KEY_MAX_LENGTH,
  IDEMPOTENCY_KEY_PATTERN,
} from "../requests/idempotency_key.ts";
import { IF_MATCH_PATTERN } from "../requests/if_match.ts";
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from "../requests/page_query.ts";
import { ACCEPT_PATCH, PATCH_TYPES } from "../requests/request_body.ts";
import { DEPRECATION_HEADERS, READ_HEADERS } from "../pets.ts";
import { codeSamples, guides, REMOVAL_DATE } from "./guides.ts";
import { BASE_PATH, PETS_PATH } from "../routes.ts";

/** The addresses of the service for clients; the paths of the first two end in /v1. */
export interface BaseAddresses {
  production?: string;
  staging?: string;
  /** A mail address or an http(s) address for questions of clients. */
  contact?: string;
}

const PETS_TAG = { name: "Pets", description: "The animals offered in the store" };

/** The description as JSON text. */
export function describeInterface(addresses: BaseAddresses): string {
  const base = addresses.production ?? `http://localhost:8000${BASE_PATH}`;
  const guideTags = guides(base);
  const description = {
    openapi: "3.1.1",
    info: {
      title: "Animal Store",
      version: "1.0.0",
      summary: "A catalogue of the animals offered in a store",
      description:
        "Every operation needs an API key: `Authorization: Bearer <API_KEY>`. All bodies are JSON in UTF-8.",
      contact: contactOf(addresses),
      license: { name: "All rights reserved", identifier: "LicenseRef-All-Rights-Reserved" },
    },
    servers: serversOf(addresses),
    tags: [PETS_TAG, ...guideTags],
    "x-tagGroups": [
      { name: "Operations", tags: [PETS_TAG.name] },
      { name: "Guides", tags: guideTags.map(({ name }) => name) },
    ],
    security: [{ bearerAuth: [] }],
    paths: {
      "/pets": { get: listPets(base), post: createPet(base) },
      "/pets/{petId}": { get: getPet(base), patch: updatePet(base) },
    },
    components: {
      schemas: schemasOf({ PetStatus, PetInput, PetPatch: PatchBody, Pet, Error: ErrorBody }),
      parameters: { IfNoneMatch: IF_NONE_MATCH, IfMatch: IF_MATCH },
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
  // The bounds of int64 are text until here, because a JavaScript number cannot hold all their digits.
  return JSON.stringify(description).replaceAll(/"((?:min|max)imum)":"(-?\d+)"/g, '"$1":$2');
}

/**
 * NewPet under another name for generated code: Go generators name the constructor of Pet `NewPet`. A page shows
 * the title.
 */
const PetInput = NewPet.meta({
  title: "NewPet",
  description: "The body of a request to add an animal",
});

const PatchBody = PetPatch.meta({
  title: "PetPatch",
  description: "The fields to change, with their new values; `null` removes a field",
  minProperties: 1,
});

const CODES = Object.keys(ERRORS) as ErrorCode[];

const ErrorBody = z.strictObject({
  code: z.enum(CODES)
    .meta({ description: "The kind of error, for programs: see the list of error codes" }),
  message: z.string()
    .meta({ description: "A description of the error for people, whose wording may change" }),
  status: z.int().min(400).max(599)
    .meta({ description: "The HTTP status of the response", format: "int32" }),
});

const EXAMPLE_NEW_PET = { name: "Rex", categoryId: 7, status: "available" };
const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET };
const EXAMPLE_PATCH = { status: "sold" };

/** The absolute address of the list, on whatever host. */
const PETS_URL_PATTERN = `https?://[^<>]+${PETS_PATH}`;
const EXAMPLE_PETS_URL = `http://localhost:8000${PETS_PATH}`;

/** Response headers that this interface defines. */
const HEADERS = {
  RequestId: always(
    "Identifies this response in the operator's logs",
    pattern("^[0-7][0-9A-HJKMNP-TV-Z]{25}(-[0-9]+)?$", 43),
    "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B",
  ),
  Challenge: always(
    "How to authenticate (RFC 6750 section 3)",
    { type: "string", enum: Object.values(CHALLENGES) },
  ),
  RetryAfter: always(
    "Seconds to wait before the next attempt (RFC 9110 section 10.2.3)",
    integer("int32", 1, 60),
    RETRY_AFTER_SECONDS,
  ),
  AllowedOrigin: sometimes(
    "The origin of the calling script, if the operator allows scripts of that origin to read responses " +
      "(https://fetch.spec.whatwg.org/#http-cors-protocol)",
    pattern("^https?://[^/]+$", 300),
    "https://shop.example",
  ),
  RateLimit: sometimes(
    "If the operator has set a limit: how many requests (`r`) the API key can send within the " +
      "next seconds (`t`). See draft-ietf-httpapi-ratelimit-headers-11.",
    pattern('^"default";r=[0-9]{1,7};t=[12]$', 23),
    '"default";r=199;t=2',
  ),
  RateLimitPolicy: sometimes(
    "If the operator has set a limit: how many requests (`q`) an API key can send within a " +
      "number of seconds (`w`)",
    pattern('^"default";q=[1-9][0-9]{0,6};w=2$', 23),
    '"default";q=200;w=2',
  ),
  AcceptEncoding: sometimes(
    "The accepted content coding, if the body was encoded (RFC 9110 section 12.5.3)",
    constant("identity"),
  ),
  AcceptPatch: sometimes(
    "The accepted media types, if the body has another one (RFC 5789 section 3.1)",
    constant(ACCEPT_PATCH["accept-patch"]),
  ),
  NextPage: sometimes(
    "The address of the next page (RFC 8288); absent on the last page",
    pattern(`^<${PETS_URL_PATTERN}\\?[^<>]+>; rel="next"$`),
    `<${EXAMPLE_PETS_URL}?limit=20&cursor=81>; rel="next"`,
  ),
  EntityTag: always(
    "Changes exactly when the content changes; for use in `If-None-Match`, and that of an animal in `If-Match`",
    pattern(ENTITY_TAG_PATTERN.source, 34),
    entityTag(JSON.stringify(EXAMPLE_PET)),
  ),
  PrivateCaching: always(
    "A client may cache the response, but must revalidate it each time",
    constant(READ_HEADERS["cache-control"]),
  ),
  NeverStored: always("The response must not be cached", constant(NEVER_STORED["cache-control"])),
  Location: always(
    "The address of the animal that was added",
    pattern(`^${PETS_URL_PATTERN}/[1-9][0-9]*$`),
    `${EXAMPLE_PETS_URL}/${EXAMPLE_PET.id}`,
  ),
  IdempotencyReplayed: sometimes(
    "Present if the response repeats that of an earlier request with the same key",
    constant("true"),
  ),
  Deprecation: always(
    "The date since which the operation is deprecated (RFC 9745)",
    constant(DEPRECATION_HEADERS.deprecation),
  ),
  Sunset: always(
    "The date on which the operation will be removed (RFC 8594)",
    constant(DEPRECATION_HEADERS.sunset),
  ),
  Successor: always(
    "The replacement of the operation (RFC 5829)",
    pattern(`^<${PETS_URL_PATTERN}\\?status=available>; rel="successor-version"$`),
    `<${EXAMPLE_PETS_URL}?status=available>; rel="successor-version"`,
  ),
};

/** Names of response headers, each with the name of its component. */
type Headers = Record<string, keyof typeof HEADERS>;

function always(description: string, schema: object, example?: unknown) {
  return { description, required: true, schema, example };
}

function sometimes(description: string, schema: object, example?: unknown) {
  return { description, required: false, schema, example };
}

function pattern(pattern: string, maxLength?: number) {
  return { type: "string", pattern, maxLength };
}

function integer<Bound>(format: "int32" | "int64", minimum: Bound, maximum: Bound) {
  return { type: "integer", format, minimum, maximum };
}

function constant(value: string) {
  return { type: "string", const: value };
}

const COMMON_HEADERS: Headers = {
  "X-Request-Id": "RequestId",
  "Access-Control-Allow-Origin": "AllowedOrigin",
  RateLimit: "RateLimit",
  "RateLimit-Policy": "RateLimitPolicy",
};

const CACHING: Headers = { "Cache-Control": "PrivateCaching", ETag: "EntityTag" };

const WRITTEN: Headers = {
  ETag: "EntityTag",
  "Idempotency-Replayed": "IdempotencyReplayed",
  "Cache-Control": "NeverStored",
};

const WARNINGS: Headers = { Deprecation: "Deprecation", Sunset: "Sunset", Link: "Successor" };

/** The headers of an error response, by status. */
const ERROR_HEADERS: Record<number, Headers> = {
  401: { "WWW-Authenticate": "Challenge" },
  403: { "WWW-Authenticate": "Challenge" },
  415: { "Accept-Encoding": "AcceptEncoding" },
  429: { "Retry-After": "RetryAfter" },
  503: { "Retry-After": "RetryAfter" },
};

/** Error codes that a change can return, and those of them that an addition cannot. */
const OF_CHANGES = CODES.filter((code) =>
  !["method_not_allowed", "not_found", "not_ready"].includes(code)
);
const NOT_OF_ADDITIONS = ["pet_not_found", "precondition_failed"];

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

const IF_MATCH = {
  name: "If-Match",
  in: "header",
  description:
    "The `ETag` of the animal that you have read, or several. If the animal is another one by now, the status is 412 " +
    "and nothing is changed. `*` allows any state of the animal",
  // No example: a page that fills it in would get 412.
  schema: pattern(IF_MATCH_PATTERN.source),
};

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  description: "Makes a retry safe: a new UUID for each animal or change, reused for every retry",
  // No example: a page that fills it in would send the same key with every request.
  schema: {
    // In quotes, each character may need a backslash before it.
    ...pattern(IDEMPOTENCY_KEY_PATTERN.source, 2 * IDEMPOTENCY_KEY_MAX_LENGTH + 2),
    minLength: 1,
  },
};

const PET_ID = {
  name: "petId",
  in: "path",
  required: true,
  description: "The identifier of the animal",
  schema: integer("int64", String(INT64_MIN), String(INT64_MAX)),
  example: EXAMPLE_PET.id,
};

function listPets(base: string) {
  return {
    operationId: "listPets",
    tags: ["Pets"],
    summary: "List animals",
    description: "Lists the animals of the store, newest first, one page at a time.",
    "x-codeSamples": codeSamples("GET", `${base}/pets?status=available&limit=${LIMIT_DEFAULT}`),
    parameters: [
      inQuery("limit", "The maximum number of animals on a page", {
        ...integer("int32", LIMIT_MIN, LIMIT_MAX),
        default: LIMIT_DEFAULT,
      }),
      inQuery(
        "status",
        "Lists only animals of this availability; by default all animals",
        schemaRef("PetStatus"),
      ),
      inQuery(
        "cursor",
        "The start of the page, taken from the `Link` header of the previous page",
        { ...pattern("^[1-9][0-9]{0,18}$", 19), minLength: 1 },
      ),
      { $ref: "#/components/parameters/IfNoneMatch" },
    ],
    responses: {
      200: response(
        "A page of animals; the `Link` header names the next page, if there is one",
        { Link: "NextPage", ...CACHING },
        {
          schema: { type: "array", items: schemaRef("Pet"), maxItems: LIMIT_MAX },
          example: [EXAMPLE_PET],
        },
      ),
      304: notModified({ Link: "NextPage" }),
      ...errors([...EVERY_OPERATION, "invalid_parameter"]),
    },
  };
}

function inQuery(name: string, description: string, schema: object) {
  return { name, in: "query", description, schema };
}

function createPet(base: string) {
  return {
    operationId: "createPet",
    tags: ["Pets"],
    summary: "Add an animal",
    "x-codeSamples": codeSamples("POST", `${base}/pets`, EXAMPLE_NEW_PET),
    description: "Adds an animal. The service assigns its `id`. An omitted `status` stays absent.",
    parameters: [IDEMPOTENCY_KEY],
    requestBody: {
      description: "The animal, without its identifier",
      required: true,
      content: { "application/json": { schema: schemaRef("PetInput"), example: EXAMPLE_NEW_PET } },
    },
    responses: {
      201: response(
        "The animal was added, by this request or by an earlier one with the same key",
        { Location: "Location", ...WRITTEN },
        { schema: schemaRef("Pet"), example: EXAMPLE_PET },
      ),
      ...errors(OF_CHANGES.filter((code) => !NOT_OF_ADDITIONS.includes(code))),
    },
  };
}

function updatePet(base: string) {
  const body = { schema: schemaRef("PetPatch"), example: EXAMPLE_PATCH };
  return {
    operationId: "updatePet",
    tags: ["Pets"],
    summary: "Change an animal",
    "x-codeSamples": codeSamples("PATCH", `${base}/pets/${EXAMPLE_PET.id}`, EXAMPLE_PATCH),
    description:
      "Changes the fields in the body, a JSON Merge Patch (RFC 7396). Other fields keep their values.",
    parameters: [PET_ID, { $ref: "#/components/parameters/IfMatch" }, IDEMPOTENCY_KEY],
    requestBody: {
      description: "The fields to change, with their new values",
      required: true,
      content: Object.fromEntries(PATCH_TYPES.map((type) => [type, body])),
    },
    responses: {
      200: response(
        "The animal as it is after the change, or as an earlier request with the same key left it",
        WRITTEN,
        { schema: schemaRef("Pet"), example: { ...EXAMPLE_PET, ...EXAMPLE_PATCH } },
      ),
      ...errors(OF_CHANGES, { 415: { "Accept-Patch": "AcceptPatch" } }),
    },
  };
}

function getPet(base: string) {
  return {
    operationId: "getPet",
    tags: ["Pets"],
    summary: "Get an animal",
    description: `Returns one animal. This operation will be removed on ${REMOVAL_DATE}: ` +
      "use `listPets` with a `status` instead.",
    deprecated: true,
    "x-codeSamples": codeSamples("GET", `${base}/pets/${EXAMPLE_PET.id}`),
    parameters: [PET_ID, { $ref: "#/components/parameters/IfNoneMatch" }],
    responses: {
      200: response("The animal", { ...WARNINGS, ...CACHING }, {
        schema: schemaRef("Pet"),
        example: EXAMPLE_PET,
      }),
      304: notModified(WARNINGS),
      ...errors([...EVERY_OPERATION, "invalid_parameter", "pet_not_found"], { 404: WARNINGS }),
    },
  };
}

function notModified(headers: Headers) {
  const description = "The content is still the one that `If-None-Match` names";
  return response(description, { ...headers, ...CACHING });
}

/** The error responses of an operation by status, built from the codes that it can return. */
function errors(codes: ErrorCode[], headers: Record<number, Headers> = {}) {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    Array.from(byStatus, ([status, codes]) => [
      status,
      response(
        codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join("\n\n"),
        { "Cache-Control": "NeverStored", ...ERROR_HEADERS[status], ...headers[status] },
        {
          schema: schemaRef("Error"),
          examples: Object.fromEntries(codes.map((code) => {
            const { when: message, status } = ERRORS[code];
            return [code, { value: { code, message, status } }];
          })),
        },
      ),
    ]),
  );
}

function response(description: string, headers: Headers, body?: object) {
  return {
    description,
    headers: Object.fromEntries(
      Object.entries({ ...COMMON_HEADERS, ...headers })
        .map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
    ),
    ...(body && { content: { "application/json": body } }),
  };
}

function schemaRef(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

function serversOf({ production, staging }: BaseAddresses) {
  const servers = Object.entries({ Production: production, Staging: staging })
    .flatMap(([description, url]) => url === undefined ? [] : [{ url, description }]);
  if (servers.length === 0) servers.push({ url: BASE_PATH, description: "This service (local)" });
  // The interface is for clients outside of the operator's organization too.
  return servers.map((server) => ({ ...server, "x-internal": false }));
}

function contactOf({ contact }: BaseAddresses) {
  const name = "The operator of this service, who issues the API keys";
  if (contact === undefined) return { name };
  return contact.includes("@") ? { name, email: contact } : { name, url: contact };
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
      const { minValue, maxValue } = zodSchema;
      Object.assign(jsonSchema, integer("int64", String(minValue), String(maxValue)));
    },
  });
  for (const schema of Object.values(schemas)) {
    delete schema.$id;
    delete schema.$schema;
  }
  return schemas;
}
