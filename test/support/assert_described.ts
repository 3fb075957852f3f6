import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { gunzipSync } from "node:zlib";
import { describeInterface } from "../../src/http/docs/openapi.ts";
import { decodeUnreserved } from "../../src/runtime/service_request.ts";

type Schema = Record<string, unknown>;

interface Operation {
  operationId: string;
  description: string;
  parameters: { $ref?: string; name?: string }[];
  requestBody?: unknown;
  "x-codeSamples": { label: string; source: string }[];
  responses: Record<string, DescribedAnswer>;
}

interface DescribedAnswer {
  headers: Record<string, { $ref: string }>;
  content?: Record<string, { schema: Schema; examples?: Record<string, { value?: unknown }> }>;
}

interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: {
    headers: Record<string, { required?: boolean; schema: Schema; example?: unknown }>;
    schemas: Record<string, Schema & { properties: Record<string, Schema> }>;
  };
}

const DESCRIPTION_ID = "description";

/** Its references name it, so that each of its schemas can be used alone. */
export const DESCRIPTION: Description = JSON.parse(
  describeInterface().replaceAll('"#/components/', `"${DESCRIPTION_ID}#/components/`),
);

/** The formats of the description. The bounds of an integer say more than its format. */
const FORMATS = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  "date-time": /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
  int32: true,
  int64: true,
  uri: /^https?:/i,
} as const;

const ajv = new Ajv2020({
  formats: FORMATS,
  keywords: ["components", "discriminator", "example"],
  // openapi_test checks the schemas themselves. Here, that would take 20 ms in each test file.
  validateSchema: false,
});
ajv.addSchema({ $id: DESCRIPTION_ID, components: DESCRIPTION.components });

const ERROR_CONTENT = { "application/json": { schema: DESCRIPTION.components.schemas.Error } };

/** Headers of HTTP itself and for proxies. The OpenAPI document omits them, like those of CORS. */
const TRANSPORT_HEADERS = [
  ...["allow", "connection", "content-length", "content-type", "date", "keep-alive", "vary"],
  "content-encoding",
  "x-accel-buffering",
];

const STREAM_TYPE = "text/event-stream";

/** Asserts that the OpenAPI document describes a response under /v1: its status, all its headers and its body. */
export function assertDescribed(
  method: string,
  path: string,
  { status, headers, body: text }: { status: number; headers: Headers; body: string },
): void {
  const pathname = decodeUnreserved(new URL(path, "http://localhost").pathname);
  const isPreflight = method === "OPTIONS" && status === 204;
  // The redirect is for people who open the address in a browser, not a part of the interface.
  const isRedirect = pathname === "/v1/" && status === 302;
  if (!pathname.startsWith("/v1/") || isPreflight || isRedirect) return;
  const at = `${method} ${pathname}: ${status} ${text.slice(0, 200)}`;
  const operation = operationOf(method, pathname);
  const described = operation === undefined ? outside(status) : operation.responses[status];
  assert(described !== undefined, `${operation?.operationId} describes no such status: ${at}`);
  assertHeaders(headers, described, at);
  if (status === 405) assert(headers.has("allow"), `Header Allow is missing: ${at}`);
  const type = headers.get("content-type") ?? "none";
  // Do not check the body for HEAD: without a server in between, the response still has one.
  if (method === "HEAD") return;
  if (described.content === undefined) return assertEquals(text, "", at);
  const json = described.content[type];
  assert(json !== undefined, `Content-Type ${type} is not described: ${at}`);
  if (type === STREAM_TYPE) return;
  const body = JSON.parse(text);
  assertValid(json.schema, body, at);
  if (json.examples !== undefined) {
    assert(body.code in json.examples, `Code ${body.code} is not described: ${at}`);
    assertEquals(body.status, status, at);
  }
}

/** Asserts that the response is described, and resolves to it with its body unread. Of a stream, it reads nothing. */
export async function describedAnswer(
  method = "GET",
  path: string,
  answering: Promise<Response>,
): Promise<Response> {
  const answer = await answering;
  const { status, headers } = answer;
  const isStream = headers.get("content-type") === STREAM_TYPE;
  const body = isStream ? "" : await textOf(answer.clone());
  assertDescribed(method, path, { status, headers, body });
  return answer;
}

/** The operation of a request. HEAD uses the operation of GET. */
function operationOf(method: string, pathname: string): Operation | undefined {
  const templates = Object.keys(DESCRIPTION.paths);
  const template = templates.find((it) => pathname === `/v1${it}`) ??
    templates.find((it) => new RegExp(`^/v1${it.replace(/\{\w+\}/, "[^/]+")}$`).test(pathname));
  if (template === undefined) return undefined;
  return DESCRIPTION.paths[template][method === "HEAD" ? "get" : method.toLowerCase()];
}

/** The errors that do not depend on an operation, as those of a list; 404 and 405 are like its 400. */
function outside(status: number): DescribedAnswer {
  const { 400: plain, ...responses } = DESCRIPTION.paths["/pets"].get.responses;
  return responses[status] ?? { headers: plain.headers, content: ERROR_CONTENT };
}

function assertHeaders(headers: Headers, described: DescribedAnswer, at: string): void {
  const known = new Map(
    Object.entries(described.headers).map(([name, { $ref }]) => [name.toLowerCase(), $ref]),
  );
  for (const [name, $ref] of known) {
    const { required, schema } = DESCRIPTION.components.headers[$ref.split("/").at(-1)!];
    const value = headers.get(name);
    if (value === null) assert(!required, `Header ${name} is missing: ${at}`);
    else assertValid(schema, "minimum" in schema ? Number(value) : value, `${name}: ${at}`);
  }
  for (const name of headers.keys()) {
    const isKnown = known.has(name) || TRANSPORT_HEADERS.includes(name) ||
      name.startsWith("access-control-");
    assert(isKnown, `Header ${name} is not described: ${at}`);
  }
}

/** Whether the value is valid by the component schema of that name. */
export function isDescribed(name: string, value: unknown): boolean {
  return ajv.validate(DESCRIPTION.components.schemas[name], value);
}

function assertValid(schema: Schema, value: unknown, at: string): void {
  const isValid = ajv.validate(schema, value);
  assert(isValid, `${ajv.errorsText()}: ${at}`);
}

/** The text of a response, in gzip unless a client has decoded it. */
export async function textOf(response: Response): Promise<string> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return new TextDecoder().decode(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes);
}
