/** The OpenAPI 3.1 description, put together from what the operations say of themselves. */

import { z } from "zod";
import { BASE_PATH, EXAMPLE_BASE } from "../../api/base_path.ts";
import { Component, content } from "../../api/component.ts";
import { IF_NONE_MATCH } from "../../api/conditional_read.ts";
import { CODES, ERROR } from "../../api/described_errors.ts";
import { COMMON_HEADERS, ERROR_HEADERS, ETAG, NO_STORE } from "../../api/described_headers.ts";
import { ERRORS } from "../../api/errors.ts";
import type { DescribedResponse, OperationDescription } from "../../api/operation.ts";
import { integerSchema } from "../../api/requests/query.ts";
import { API_OPERATIONS } from "../api_operations.ts";
import { codeSamples, guides } from "./guides.ts";

/** The public address, and that of the staging service. */
export interface BaseAddresses {
  publicUrl?: string;
  stagingUrl?: string;
}

export interface DescribedInterface extends BaseAddresses {
  /** The operations that are described; by default, all of the service. */
  operations?: readonly OperationDescription[];
}

/** Returns the description as JSON text, with samples for the public address or else for {@linkcode EXAMPLE_BASE}. */
export function describeInterface(
  { publicUrl, stagingUrl, operations = API_OPERATIONS }: DescribedInterface = {},
): string {
  const base = publicUrl ?? EXAMPLE_BASE;
  const guideTags = guides(base);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const paths = pathsOf(operations, base);
  const { schemas, parameters, headers } = Object.groupBy(
    new Set(componentsIn(paths)),
    ({ kind }) => kind,
  );
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
    tags: [...tags, ...guideTags],
    "x-tagGroups": [
      { name: "Operations", tags: tags.map(({ name }) => name) },
      { name: "Guides", tags: guideTags.map(({ name }) => name) },
    ],
    security: [{ bearerAuth: [] }],
    paths,
    components: {
      schemas: jsonSchemasOf(valuesOf(schemas) as Record<string, z.ZodType>),
      parameters: valuesOf(parameters),
      headers: valuesOf(headers),
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

/** The operations by their paths and methods, with samples for that base address. */
function pathsOf(operations: readonly OperationDescription[], base: string) {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  return Object.fromEntries(
    Array.from(byPath, ([path, ofPath]) => [
      path,
      Object.fromEntries(
        ofPath.map((operation) => [operation.method.toLowerCase(), describe(operation, base)]),
      ),
    ]),
  );
}

function describe(operation: OperationDescription, base: string) {
  const { id, tag, summary, description, deprecated, parameters, body, responses } = operation;
  // A GET with an ETag is a conditional read: `applyIfNoneMatch()`.
  const success = responses[200];
  const isConditional = operation.method === "GET" && success?.headers.includes(ETAG);
  const unchanged: DescribedResponse = {
    description: "The content is still the one that `If-None-Match` names",
    headers: success?.headers ?? [],
  };
  const described = isConditional ? { ...responses, 304: unchanged } : responses;
  return {
    operationId: id,
    tags: [tag.name],
    summary,
    description,
    deprecated,
    parameters: isConditional ? [...parameters, IF_NONE_MATCH] : parameters,
    requestBody: body && {
      description: body.description,
      required: true,
      content: content(body.schema, body.example, body.types),
    },
    responses: {
      ...Object.fromEntries(
        Object.entries(described).map(([status, it]) => [
          status,
          response(it.description, it.headers, it.content),
        ]),
      ),
      ...errorsOf(operation),
    },
    "x-codeSamples": samplesOf(operation, base),
  };
}

/** In the order of the table of codes. */
function errorsOf({ errors, errorHeaders = {} }: OperationDescription) {
  const codes = CODES.filter((code) => errors.includes(code));
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(Array.from(byStatus, ([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join("\n\n");
    const headers = [NO_STORE, ...ERROR_HEADERS[status] ?? [], ...errorHeaders[status] ?? []];
    const examples = Object.fromEntries(codes.map((code) => {
      return [code, { value: { code, message: ERRORS[code].when, status } }];
    }));
    const content = { "application/json": { schema: ERROR, examples } };
    return [status, response(description, headers, content)];
  }));
}

function response(description: string, headers: readonly Component[], content?: object) {
  const byName = [...COMMON_HEADERS, ...headers].map((it) => [it.name.split(".")[0], it]);
  return { description, headers: Object.fromEntries(byName), content };
}

/** The samples of the operation, in which the parameters of the path have their examples. */
function samplesOf({ method, path, parameters, body, sample }: OperationDescription, base: string) {
  const examples = new Map(
    parameters.flatMap((it) => it instanceof Component ? [] : [[it.name, it.example]]),
  );
  const target = path.replace(/\{(\w+)\}/, (_, name) => String(examples.get(name)));
  const { query = "", kind = method } = sample ?? {};
  return codeSamples(kind, base + target + query, body?.example);
}

/** The components that a part of the description refers to, each as often as it is there. */
function* componentsIn(part: unknown): Generator<Component> {
  if (part instanceof Component) {
    yield part;
    yield* componentsIn(part.inner);
  } else if (typeof part === "object" && part !== null) {
    for (const member of Object.values(part)) yield* componentsIn(member);
  }
}

/** The components of one kind by their names, in the order of these. Throws if two have the same name. */
function valuesOf(components: readonly Component[] = []): Record<string, object> {
  const sorted = components.toSorted((one, other) => one.name < other.name ? -1 : 1);
  const values: Record<string, object> = {};
  for (const { kind, name, value } of sorted) {
    if (Object.hasOwn(values, name)) throw new Error(`Two of the ${kind} are named ${name}`);
    values[name] = value;
  }
  return values;
}

/** The JSON Schemas of the named zod schemas, which refer to each other by these names. */
function jsonSchemasOf(named: Record<string, z.ZodType>) {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    // The JSON form that clients see, before parsing turns a number into the type that the code uses.
    io: "input",
    unrepresentable: "any",
    uri: (id) => `#/components/schemas/${id}`,
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
