/** The OpenAPI 3.1 description, generated from the schemas and tables of the code itself. */

import { PET_EVENT_TYPES } from "../../../events/pet_event.ts";
import { sequenceOf } from "eventstore-less/log/line_text.ts";
import { z } from "zod";
import { EVENT_SOURCE, schemaOf } from "eventstore-less/log/event.ts";
import { INT64_MAX, INT64_MIN } from "../../encoding/int64.ts";
import { petSubject } from "../../animals/pet_keys.ts";
import { NewPet, Pet, PetPatch, PetStatus } from "../../../events/pet.ts";
import { FEED_ID_PATTERN } from "eventstore-less/feed/event_feed.ts";
import { EVENT_BATCH_HEADERS, NEVER_STORED, READ_HEADERS } from "../../api/http_response.ts";
import { ENTITY_TAG_PATTERN, entityTag } from "../../api/conditional_read.ts";
import { type ErrorCode, ERRORS, RETRY_AFTER_SECONDS } from "../../api/errors.ts";
import { STREAM_TYPE } from "../events.ts";
import {
  IDEMPOTENCY_KEY_MAX_LENGTH,
  IDEMPOTENCY_KEY_PATTERN,
} from "../../api/requests/idempotency_key.ts";
import { IF_MATCH_PATTERN } from "../../api/requests/if_match.ts";
import * as EVENTS from "../events_query.ts";
import * as PAGES from "../../animals/page_query.ts";
import { PET_EVENTS_PARAMETERS } from "../../animals/list_pet_events.ts";
import { SCAN_LIMIT, SCAN_MS } from "../../animals/name_search.ts";
import { LABEL_MAX_LENGTH } from "../../../events/api_key.ts";
import { ULID } from "../../encoding/text_forms.ts";
import { integerSchema } from "../../api/requests/query.ts";
import { ACCEPT_PATCH, PATCH_TYPES } from "../../api/requests/request_body.ts";
import { DEPRECATION_HEADERS } from "../../animals/pet_operations.ts";
import { codeSamples, guides, REMOVAL_DATE } from "./guides.ts";
import type { ApiOperationName } from "../api_operations.ts";
import { BASE_PATH, ROUTES } from "../routes.ts";

const PETS_TAG = { name: "Pets", description: "The animals offered in the store" };
const EVENTS_TAG = { name: "Events", description: "How the animals came to be as they are" };
const KEY_TAG = { name: "Key", description: "The API key that asks" };
const BATCH_TYPE = EVENT_BATCH_HEADERS["content-type"];

/** An address that the description has in examples, until it is replaced by the one that was called. */
export const EXAMPLE_BASE = `http://localhost:8000${BASE_PATH}`;

/** The public address, and that of the staging service. */
export interface BaseAddresses {
  publicUrl?: string;
  stagingUrl?: string;
}

/** Returns the description as JSON text, with samples for the public address or else for {@linkcode EXAMPLE_BASE}. */
export function describeInterface({ publicUrl, stagingUrl }: BaseAddresses = {}): string {
  const base = publicUrl ?? EXAMPLE_BASE;
  const guideTags = guides(base);
  const description = {
    openapi: "3.1.1",
    info: {
      title: "Animal Store",
      version: "1.0.0",
      summary: "A catalogue of the animals offered in a store",
      description:
        "Every operation needs an API key: `Authorization: Bearer <API_KEY>`. All bodies are JSON in UTF-8, except for a stream of events.",
      contact: { name: "The operator of this service, who issues the API keys" },
      license: { name: "All rights reserved", identifier: "LicenseRef-All-Rights-Reserved" },
    },
    servers: [
      publicUrl === undefined ? [BASE_PATH, "This service (local)"] : [publicUrl, "Production"],
      ...(stagingUrl === undefined ? [] : [[stagingUrl, "Staging"]]),
      // The interface is for clients outside of the operator's organization too.
    ].map(([url, description]) => ({ url, description, "x-internal": false })),
    tags: [PETS_TAG, EVENTS_TAG, KEY_TAG, ...guideTags],
    "x-tagGroups": [
      { name: "Operations", tags: [PETS_TAG.name, EVENTS_TAG.name, KEY_TAG.name] },
      { name: "Guides", tags: guideTags.map(({ name }) => name) },
    ],
    security: [{ bearerAuth: [] }],
    paths: pathsOf(base),
    components: {
      schemas: schemasOf({
        PetStatus,
        StatusFilter,
        PetInput,
        PetPatch: PatchBody,
        Pet,
        PetEvent,
        ApiKey: KeyBody,
        Error: ErrorBody,
      }),
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
  // The bounds of int64 are text until here.
  return JSON.stringify(description).replaceAll(/"((?:min|max)imum)":"(-?\d+)"/g, '"$1":$2')
    .replaceAll(EXAMPLE_BASE, () => base);
}

/** NewPet under another name: Go generators name the constructor of Pet `NewPet`. */
const PetInput = NewPet.meta({
  title: "NewPet",
  description: "The body of a request to add an animal",
});

const StatusFilter = z.enum(PAGES.STATUS_FILTERS)
  .meta({
    description: "The availability of the animals in a list; `none` if they have no status",
    // Without names of its own, Go generators would rename those of PetStatus.
    "x-enumNames": PAGES.STATUS_FILTERS.map((it) => `StatusFilter${capitalized(it)}`),
  });

const PatchBody = PetPatch.meta({
  title: "PetPatch",
  description: "The fields to change, with their new values; `null` removes a field",
  minProperties: 1,
});

const DATASCHEMA_PATTERN = new RegExp(
  `^(${PET_EVENT_TYPES.map(schemaOf).join("|")}):[1-9][0-9.]*$`,
);

const KEY_ID_PATTERN = new RegExp(`^${ULID}$`);

/** An event as `encodePublicEvent` writes it. */
const PetEvent = z.strictObject({
  specversion: z.literal("1.0"),
  id: z.string().regex(FEED_ID_PATTERN).max(33)
    .describe("The position of the event in the log, and a part of its hash. Ids sort as texts"),
  source: z.literal(EVENT_SOURCE),
  type: z.enum(PET_EVENT_TYPES),
  time: z.string().meta({ format: "date-time", maxLength: 24 }),
  sequence: z.string().regex(/^\d{16}$/).max(16),
  subject: z.string().regex(/^pets\/[1-9]\d*$/).max(21),
  dataschema: z.string().regex(DATASCHEMA_PATTERN).max(100),
  actor: z.string().regex(KEY_ID_PATTERN).max(26).optional()
    .describe("The id of the API key that caused the event; only in the events of one animal"),
  datacontenttype: z.literal("application/json"),
  data: Pet.extend({ previous: PatchBody.optional() }).describe(
    "The animal as it is after the event, or was before a `PetRemoved`, and in `previous` of a `PetUpdated` the " +
      "former values of what changed (`null` for an absent one)",
  ),
}).describe("A CloudEvent 1.0 (https://cloudevents.io): an animal was added, changed or removed");

/** An API key as `getKey` shows it. */
const KeyBody = z.strictObject({
  id: z.string().regex(KEY_ID_PATTERN).max(26).describe("The identifier of the key, not the key"),
  label: z.string().min(1).max(LABEL_MAX_LENGTH)
    .describe("The name that the operator gave to the key"),
  readOnly: z.boolean().describe("Whether the key may only read"),
  expiresAt: z.string().meta({ format: "date-time", maxLength: 24 }).optional()
    .describe("When the key ends, as far as that is known; absent if it does not end"),
});

const CODES = Object.keys(ERRORS) as ErrorCode[];

const ErrorBody = z.strictObject({
  code: z.enum(CODES).describe("The kind of error, for programs: see the list of error codes"),
  message: z.string().describe("A description of the error for people, whose wording may change"),
  status: z.int().min(400).max(599)
    .meta({ description: "The HTTP status of the response", format: "int32" }),
});

const EXAMPLE_NEW_PET = { name: "Rex", categoryId: 7, status: "available" };
const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET };
const EXAMPLE_PATCH = { status: "sold" };
const EXAMPLE_EVENT = {
  specversion: "1.0",
  id: `${sequenceOf(2)}-9c1f04a6d2e87b35`,
  source: EVENT_SOURCE,
  type: "PetCreated",
  time: "2026-01-02T03:04:05.678Z",
  sequence: sequenceOf(2),
  subject: petSubject(EXAMPLE_PET.id),
  dataschema: `${schemaOf("PetCreated")}:1`,
  datacontenttype: "application/json",
  data: EXAMPLE_PET,
};
const EXAMPLE_KEY = {
  id: "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B",
  label: "shop",
  readOnly: false,
  expiresAt: "2027-01-02T03:04:05.678Z",
};
const EXAMPLE_DATA = JSON.stringify(EXAMPLE_EVENT);
const EXAMPLE_MESSAGE = `id: ${EXAMPLE_EVENT.id}\nevent: PetCreated\ndata: ${EXAMPLE_DATA}\n\n`;
const PET_BODY = content(ref("schemas/Pet"), EXAMPLE_PET);

const PETS_URL_PATTERN = `https?://[^<>]+${BASE_PATH}/pets`;
const EXAMPLE_PETS_URL = `${EXAMPLE_BASE}/pets`;

/** Response headers of this interface. A header with several meanings has one after a dot. */
const HEADERS = {
  "X-Request-Id": always(
    "Identifies this response in the operator's logs",
    pattern("^[0-7][0-9A-HJKMNP-TV-Z]{25}(-[0-9]+)?$", 43),
    "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B",
  ),
  "WWW-Authenticate": always(
    "How to authenticate (RFC 6750 section 3)",
    { type: "string", enum: CODES.flatMap((code) => ERRORS[code].challenge ?? []) },
  ),
  "Retry-After": always(
    "Seconds to wait before the next attempt (RFC 9110 section 10.2.3)",
    integerSchema("int32", 1, 60),
    RETRY_AFTER_SECONDS,
  ),
  "Access-Control-Allow-Origin": sometimes(
    "The origin of the calling script, if the operator lets scripts of that origin read responses",
    pattern("^https?://[^/]+$", 300),
    "https://shop.example",
  ),
  "RateLimit": sometimes(
    "If there is a limit: how many requests (`r`) the API key can send within the next seconds (`t`)",
    pattern('^"default";r=[0-9]{1,7};t=[12]$', 23),
    '"default";r=199;t=2',
  ),
  "RateLimit-Policy": sometimes(
    "If there is a limit: how many requests (`q`) an API key can send within some seconds (`w`)",
    pattern('^"default";q=[1-9][0-9]{0,6};w=2$', 23),
    '"default";q=200;w=2',
  ),
  "Accept-Encoding": sometimes(
    "The accepted content coding, if the body was encoded (RFC 9110 section 12.5.3)",
    "identity",
  ),
  "Accept-Patch": sometimes(
    "The accepted media types, if the body has another one (RFC 5789 section 3.1)",
    ACCEPT_PATCH["accept-patch"],
  ),
  "Link.next": sometimes(
    "The address of the next page (RFC 8288); absent on the last page",
    pattern(`^<${PETS_URL_PATTERN}\\?[^<>]+>; rel="next"$`),
    `<${EXAMPLE_PETS_URL}?limit=20&cursor=81>; rel="next"`,
  ),
  "Link.history": sometimes(
    "The address of the next page, with earlier events (RFC 8288); absent on the last page",
    pattern(`^<${PETS_URL_PATTERN}/[1-9][0-9]*/events\\?[^<>]+>; rel="next"$`),
    `<${EXAMPLE_PETS_URL}/${EXAMPLE_PET.id}/events?limit=20&cursor=${EXAMPLE_EVENT.id}>; rel="next"`,
  ),
  "Link.events": sometimes(
    "The address of the next request (RFC 8288); absent on a stream",
    pattern(`^<https?://[^<>]+${BASE_PATH}/events\\?lastEventId=[^<>]+>; rel="next"$`),
    `<${EXAMPLE_BASE}/events?lastEventId=${EXAMPLE_EVENT.id}&limit=100&timeout=0>; rel="next"`,
  ),
  "X-Total-Count": sometimes(
    "How many animals match the filter; absent if a category, or a search by `name`, has several pages",
    integerSchema("int64", "0", String(INT64_MAX)),
    1,
  ),
  "X-Feed-Position": always(
    "The `lastEventId` from which events continue this list",
    pattern(FEED_ID_PATTERN.source, 33),
    EXAMPLE_EVENT.id,
  ),
  "ETag": always(
    "Changes exactly when the content changes; for use in `If-None-Match`, and that of an animal, or of a page of one id in `ids`, in `If-Match`",
    pattern(ENTITY_TAG_PATTERN.source, 39),
    entityTag(JSON.stringify(EXAMPLE_PET)),
  ),
  "Cache-Control.private": always(
    "A client may cache the response, but must revalidate it each time",
    READ_HEADERS["cache-control"],
  ),
  "Cache-Control.no-store": always(
    "The response must not be cached",
    NEVER_STORED["cache-control"],
  ),
  "Location": always(
    "The address of the animal that was added",
    pattern(`^${PETS_URL_PATTERN}/[1-9][0-9]*$`),
    `${EXAMPLE_PETS_URL}/${EXAMPLE_PET.id}`,
  ),
  "Idempotency-Replayed": sometimes(
    "Present if the response repeats that of an earlier request with the same key",
    "true",
  ),
  "Deprecation": always(
    "The date since which the operation is deprecated (RFC 9745)",
    DEPRECATION_HEADERS.deprecation,
  ),
  "Sunset": always(
    "The date on which the operation will be removed (RFC 8594)",
    DEPRECATION_HEADERS.sunset,
  ),
  "Link.successor": always(
    "The replacement of the operation (RFC 5829)",
    pattern(`^<${PETS_URL_PATTERN}\\?status=available>; rel="successor-version"$`),
    `<${EXAMPLE_PETS_URL}?status=available>; rel="successor-version"`,
  ),
};

type HeaderName = keyof typeof HEADERS;

/** A header with a schema, or with one value. */
function always(description: string, form: object | string, example?: unknown) {
  const schema = typeof form === "string" ? { type: "string", const: form } : form;
  return { description, required: true, schema, example };
}

function sometimes(...header: Parameters<typeof always>) {
  return { ...always(...header), required: false };
}

function pattern(pattern: string, maxLength?: number) {
  return { type: "string", pattern, maxLength };
}

const COMMON_HEADERS: HeaderName[] = [
  "X-Request-Id",
  "Access-Control-Allow-Origin",
  "RateLimit",
  "RateLimit-Policy",
];

const CACHING: HeaderName[] = ["Cache-Control.private", "ETag"];
const WRITTEN: HeaderName[] = ["Cache-Control.no-store", "ETag", "Idempotency-Replayed"];
const OF_PAGES: HeaderName[] = ["Link.next", "X-Total-Count", "X-Feed-Position"];
const WARNINGS: HeaderName[] = ["Deprecation", "Sunset", "Link.successor"];

const ERROR_HEADERS: Record<number, HeaderName[]> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  415: ["Accept-Encoding"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** Error codes that each operation can return. */
const OF_LISTS: ErrorCode[] = [
  "malformed_request",
  "invalid_parameter",
  "missing_credentials",
  "invalid_credentials",
  "rate_limited",
  "internal_error",
  "projection_damaged",
  "shutting_down",
  "store_unavailable",
];
const OF_OTHERS: ErrorCode[] = ["feed_reset", "method_not_allowed", "not_found", "not_ready"];
const OF_CHANGES = CODES.filter((code) => !OF_OTHERS.includes(code));
/** A new code is one of requests with a body, unless it is added here. */
const OF_REMOVALS: ErrorCode[] = [
  ...OF_LISTS,
  "malformed_body",
  "invalid_idempotency_key",
  "read_only_key",
  "pet_not_found",
  "request_timeout",
  "idempotency_key_reused",
  "precondition_failed",
  "body_too_large",
  "outcome_unknown",
  "overloaded",
  "storage_full",
];
const ONLY_OF_CHANGES: ErrorCode[] = ["pet_not_found", "precondition_failed"];
const OF_ADDITIONS = OF_CHANGES.filter((code) => !ONLY_OF_CHANGES.includes(code));

// The parameters without an example are those that a page must not fill in, with one value for every request.
const IF_NONE_MATCH = requestHeader(
  "If-None-Match",
  "The `ETag` of a cached response. If it is still current, the status is 304",
  { type: "string" },
);

const IF_MATCH = requestHeader(
  "If-Match",
  "The `ETag` of the animal that you have read, also with `ids=1`, or several; `*` allows any state. If the animal has none " +
    "of them, the status is 412. Unlike in RFC 9110 (13.1.1), an `ETag` also matches as a proxy that compresses left it: with " +
    "`W/` before it, or with a coding at its end (`-gzip`). This is safe, because it is a hash of the animal",
  pattern(IF_MATCH_PATTERN.source),
);

const IDEMPOTENCY_KEY = requestHeader(
  "Idempotency-Key",
  "Makes a retry safe: a new UUID for each animal or change, reused for every retry",
  { ...pattern(IDEMPOTENCY_KEY_PATTERN.source, IDEMPOTENCY_KEY_MAX_LENGTH), minLength: 1 },
);

const LAST_EVENT_ID = requestHeader(
  "Last-Event-ID",
  "Replaces `lastEventId`; clients of streams send it when they resume",
  pattern(`^(${FEED_ID_PATTERN.source.slice(1, -1)})?$`, 33),
);

const PET_ID = {
  name: "petId",
  in: "path",
  required: true,
  description: "The identifier of the animal",
  schema: integerSchema("int64", String(INT64_MIN), String(INT64_MAX)),
  example: EXAMPLE_PET.id,
};

function requestHeader(name: string, description: string, schema: object) {
  return { name, in: "header", description, schema };
}

function queryParametersOf(parameters: Record<string, object>) {
  return Object.entries(parameters).map(([name, it]) => ({ name, in: "query", ...it }));
}

interface DescribedOperation extends Record<string, unknown> {
  /** The query and the body of the code samples, and the kind of them if the method does not say it. */
  query?: string;
  body?: object;
  sample?: string;
}

const OPERATIONS: Record<ApiOperationName, DescribedOperation> = {
  listPets: {
    summary: "List animals",
    description:
      "Lists the animals of the store, newest first, one page at a time. With `name`, a page " +
      `is the result of a search through at most ${
        SCAN_LIMIT.toLocaleString("en")
      } animals, for at most ` +
      `${
        SCAN_MS / 1_000
      } seconds: it may have fewer animals than \`limit\`, or none, although its \`Link\` header ` +
      "names a next page.",
    query: `?status=available&limit=${PAGES.LIMIT_DEFAULT}`,
    parameters: [...queryParametersOf(PAGES.PAGE_PARAMETERS), ref("parameters/IfNoneMatch")],
    responses: {
      200: response(
        "A page of animals; the `Link` header names the next page, if there is one",
        [...OF_PAGES, ...CACHING],
        content(arrayOf("Pet", PAGES.LIMIT_MAX), [EXAMPLE_PET]),
      ),
      304: notModified(OF_PAGES),
      ...errors([...OF_LISTS, "overloaded"]),
    },
  },
  createPet: {
    summary: "Add an animal",
    description: "Adds an animal. The service assigns its `id`. An omitted `status` stays absent.",
    parameters: [IDEMPOTENCY_KEY],
    ...takes("The animal, without its identifier", "PetInput", EXAMPLE_NEW_PET),
    responses: {
      201: response(
        "The animal was added, by this request or by an earlier one with the same key",
        ["Location", ...WRITTEN],
        PET_BODY,
      ),
      ...errors(OF_ADDITIONS),
    },
  },
  updatePet: {
    summary: "Change an animal",
    description:
      "Changes the fields in the body, a JSON Merge Patch (RFC 7396). Other fields keep their values. If nothing changes, " +
      "the `Idempotency-Key` is not remembered, so a retry after a change by another client is carried out. With " +
      "`If-Match`, too, this retry gets 412.",
    parameters: [PET_ID, ref("parameters/IfMatch"), IDEMPOTENCY_KEY],
    ...takes("The fields to change, with their new values", "PetPatch", EXAMPLE_PATCH, PATCH_TYPES),
    responses: {
      200: response(
        "The animal as it is after the change, or as an earlier request with the same key left it",
        WRITTEN,
        content(ref("schemas/Pet"), { ...EXAMPLE_PET, ...EXAMPLE_PATCH }),
      ),
      ...errors(OF_CHANGES, { 415: ["Accept-Patch"] }),
    },
  },
  getPet: {
    summary: "Get an animal",
    description: `Returns one animal. This operation will be removed on ${REMOVAL_DATE}: ` +
      "use `listPets` with `ids` or a `status` instead.",
    deprecated: true,
    parameters: [PET_ID, ref("parameters/IfNoneMatch")],
    responses: {
      200: response("The animal", [...WARNINGS, ...CACHING], PET_BODY),
      304: notModified(WARNINGS),
      ...errors([...OF_LISTS, "pet_not_found"], { 404: WARNINGS }),
    },
  },
  removePet: {
    summary: "Remove an animal",
    description: "Removes an animal for ever. Its `id` is not used again.",
    parameters: [PET_ID, ref("parameters/IfMatch"), IDEMPOTENCY_KEY],
    responses: {
      204: response(
        "The animal was removed, by this request or by an earlier one with the same key",
        ["Cache-Control.no-store", "Idempotency-Replayed"],
      ),
      ...errors(OF_REMOVALS),
    },
  },
  listEvents: {
    tags: [EVENTS_TAG.name],
    summary: "List events",
    description:
      "Lists additions, changes and removals of animals, oldest first: as a batch, or with " +
      `\`Accept: ${STREAM_TYPE}\` as a stream, which stays open. See the guides "Follow the store" and "Follow by a stream".`,
    sample: "stream",
    parameters: [...queryParametersOf(EVENTS.EVENTS_PARAMETERS), LAST_EVENT_ID],
    responses: {
      200: response(
        "A batch of events, empty if there are none, whose `Link` header names the next request; or a stream",
        ["Link.events", "Cache-Control.no-store"],
        {
          ...content(arrayOf("PetEvent", EVENTS.EVENTS_LIMIT_MAX), [EXAMPLE_EVENT], [BATCH_TYPE]),
          ...content({ type: "string" }, EXAMPLE_MESSAGE, [STREAM_TYPE]),
        },
      ),
      ...errors([...OF_LISTS, "feed_reset", "overloaded"]),
    },
  },
  listPetEvents: {
    tags: [EVENTS_TAG.name],
    summary: "List the events of an animal",
    description:
      "Lists what happened to one animal, newest first, one page at a time. The service finds an event by the one " +
      "after it. Events that it stored before version 6 do not name the one before, so the list ends with the newest " +
      "of these. A page with a megabyte has no more events.",
    parameters: [
      PET_ID,
      ...queryParametersOf(PET_EVENTS_PARAMETERS),
      ref("parameters/IfNoneMatch"),
    ],
    responses: {
      200: response(
        "A page of events; the `Link` header names the next page, if there is one",
        ["Link.history", ...CACHING],
        content(
          arrayOf("PetEvent", PAGES.LIMIT_MAX),
          [{ ...EXAMPLE_EVENT, actor: EXAMPLE_KEY.id }],
          [BATCH_TYPE],
        ),
      ),
      304: notModified(["Link.history"]),
      ...errors([...OF_LISTS, "pet_not_found"]),
    },
  },
  getKey: {
    tags: [KEY_TAG.name],
    summary: "Get the API key that asks",
    description: "Returns what is known of the API key of the request, but not the key itself.",
    parameters: [ref("parameters/IfNoneMatch")],
    responses: {
      200: response("The API key", CACHING, content(ref("schemas/ApiKey"), EXAMPLE_KEY)),
      304: notModified([]),
      ...errors(OF_LISTS),
    },
  },
};

/** The operations of the routes that need a key, with samples for that base address. */
function pathsOf(base: string) {
  const routes = ROUTES.filter(({ isPublic }) => !isPublic);
  return Object.fromEntries(routes.map(({ path, operations }) => {
    const relative = path.slice(BASE_PATH.length);
    const described = Object.entries(operations).map(([method, operationId]) => {
      const { query = "", body, sample = method, ...operation } =
        OPERATIONS[operationId as ApiOperationName];
      const url = base + relative.replace("{petId}", String(EXAMPLE_PET.id)) + query;
      return [method.toLowerCase(), {
        operationId,
        tags: [PETS_TAG.name],
        ...operation,
        "x-codeSamples": codeSamples(sample, url, body),
      }];
    });
    return [relative, Object.fromEntries(described)];
  }));
}

/** The body of a request, also for the code samples. */
function takes(description: string, schema: string, body: object, types?: string[]) {
  const described = content(ref(`schemas/${schema}`), body, types);
  return { body, requestBody: { description, required: true, content: described } };
}

/** A body with the same schema and example in each of the media types. */
function content(schema: object, example: unknown, types = ["application/json"]) {
  return Object.fromEntries(types.map((type) => [type, { schema, example }]));
}

function arrayOf(name: string, maxItems: number) {
  return { type: "array", items: ref(`schemas/${name}`), maxItems };
}

function notModified(headers: HeaderName[]) {
  const description = "The content is still the one that `If-None-Match` names";
  return response(description, [...headers, ...CACHING]);
}

function errors(codes: ErrorCode[], headers: Record<number, HeaderName[]> = {}) {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(Array.from(byStatus, ([status, codes]) => {
    const ofStatus = [...ERROR_HEADERS[status] ?? [], ...headers[status] ?? []];
    const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join("\n\n");
    const examples = Object.fromEntries(codes.map((code) => {
      return [code, { value: { code, message: ERRORS[code].when, status } }];
    }));
    const content = { "application/json": { schema: ref("schemas/Error"), examples } };
    return [status, response(description, ["Cache-Control.no-store", ...ofStatus], content)];
  }));
}

function response(description: string, names: HeaderName[], content?: object) {
  const headers = [...COMMON_HEADERS, ...names]
    .map((name) => [name.split(".")[0], ref(`headers/${name}`)]);
  return { description, headers: Object.fromEntries(headers), content };
}

function ref(component: string) {
  return { $ref: `#/components/${component}` };
}

function capitalized(word: string): string {
  return word[0].toUpperCase() + word.slice(1);
}

/** The JSON Schemas of the named zod schemas, which refer to each other by these names. */
function schemasOf(named: Record<string, z.ZodType>) {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    // The JSON form that clients see, before parsing turns a number into the type that the code uses.
    io: "input",
    unrepresentable: "any",
    uri: (id) => ref(`schemas/${id}`).$ref,
    override: ({ zodSchema, jsonSchema }) => {
      if (!(zodSchema instanceof z.ZodBigInt)) return;
      const { minValue, maxValue } = zodSchema;
      Object.assign(jsonSchema, integerSchema("int64", String(minValue), String(maxValue)));
    },
  });
  for (const schema of Object.values(schemas)) {
    delete schema.$id;
    delete schema.$schema;
  }
  return schemas;
}
