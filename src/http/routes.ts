/** All routes of the service: the one table for the handler, the description and telemetry. */

import type { ApiRoute } from "../api/api_operation.ts";
import { API_ROUTES, type ApiOperationName } from "./api_operations.ts";
import { HttpError } from "../api/errors.ts";
import { type RequestHeaders, type ServiceRequest, urlParts } from "../runtime/service_request.ts";

/** The path of the interface (section 9). */
export const BASE_PATH = "/v1";

/** These are outside of the interface, and need no key. */
export type PublicOperation =
  | "checkLiveness"
  | "checkReadiness"
  | "getDocs"
  | "redirectToDocs"
  | "redirectBrowserToDocs"
  | "getWindow"
  | "redirectToWindow";

type Operations<Name extends string> = ApiRoute<Name>["operations"];

/** The last segment of a path, or the one before, may be a parameter, such as `{petId}`. */
export type Route =
  | { path: string; isPublic: false; operations: Operations<ApiOperationName> }
  | { path: string; isPublic: true; operations: Operations<PublicOperation> };

export const ROUTES: readonly Route[] = [
  ...API_ROUTES.map(({ path, operations }) => apiRoute(BASE_PATH + path, operations)),
  publicRoute("/healthz", "checkLiveness"),
  publicRoute("/readyz", "checkReadiness"),
  publicRoute("/openapi.json", "getDocs"),
  publicRoute("/", "redirectToWindow"),
  publicRoute(BASE_PATH, "redirectBrowserToDocs"),
  publicRoute(`${BASE_PATH}/`, "redirectBrowserToDocs"),
  publicRoute("/favicon.ico", "redirectToDocs"),
  publicRoute("/docs", "getDocs"),
  publicRoute("/docs/", "redirectToDocs"),
  publicRoute("/docs/{file}", "getDocs"),
  publicRoute("/window", "getWindow"),
  publicRoute("/window/", "redirectToWindow"),
  publicRoute("/window/{file}", "getWindow"),
];

/** A parameter has no name here. */
const ROUTES_BY_PATH = new Map(ROUTES.map((it) => [it.path.replace(/\{\w+\}/, "{}"), it]));

/** The route of a path. One for browsers matches if the client asks for HTML, or has no `headers`. */
export function findRoute(path: string, headers?: RequestHeaders): Route | undefined {
  const route = ROUTES_BY_PATH.get(path) ?? findRouteWithParameter(path);
  const isForBrowser = route?.operations.GET === "redirectBrowserToDocs";
  if (!isForBrowser || headers === undefined) return route;
  const acceptsHtml = /\btext\/html\b/i.test(headers.get("accept") ?? "");
  return acceptsHtml ? route : undefined;
}

function findRouteWithParameter(path: string): Route | undefined {
  // Anybody can send a long path, so no regular expression that is tried at each of its characters.
  const lastSlash = path.lastIndexOf("/");
  const slashBefore = path.lastIndexOf("/", lastSlash - 1);
  return findRouteWithout(path, lastSlash + 1, path.length) ??
    findRouteWithout(path, slashBefore + 1, lastSlash);
}

/** The route of a path whose segment from `start` to `end` is the parameter, which must not be empty. */
function findRouteWithout(path: string, start: number, end: number): Route | undefined {
  if (start >= end) return undefined;
  return ROUTES_BY_PATH.get(`${path.slice(0, start)}{}${path.slice(end)}`);
}

/** The message does not repeat the path, which may have a secret. */
export function unknownPathError(rightPaths: string): HttpError {
  return new HttpError("not_found", `The path does not exist: use ${rightPaths}`);
}

export function pathsAt(baseUrl: string): string {
  const base = urlParts(baseUrl).path;
  const paths = API_ROUTES.map(({ path }) => base + path);
  return `${paths.slice(0, -1).join(", ")} or ${paths.at(-1)}`;
}

/** The paths at which people and programs look for a description that is elsewhere. */
const GUESS_OF_DOCS = new RegExp(
  "^(?:/api|/v\\d)*/(?:api-docs|docs|openapi|redoc|swagger|swagger-ui)" +
    "(?:\\.html|\\.json|\\.ya?ml|/|/index\\.html)?$",
);

export function isGuessOfDocs(path: string): boolean {
  return GUESS_OF_DOCS.test(path);
}

/** The paths of the reference and of the description, which are beside that of the interface. */
export function docsPathsAt(baseUrl: string): string {
  const folder = urlParts(baseUrl).path.slice(0, -BASE_PATH.length);
  return `${folder}/docs or ${folder}/openapi.json`;
}

/** `undefined` if the route does not support the method. */
export function operationOf<Name extends string>(
  { operations }: { operations: Operations<Name> },
  method: string,
): Name | undefined {
  if (method === "GET" || method === "HEAD") return operations.GET;
  const isWrite = method === "POST" || method === "PATCH" || method === "DELETE";
  return isWrite ? operations[method] : undefined;
}

function apiRoute(path: string, operations: Operations<ApiOperationName>): Route {
  return { path, operations, isPublic: false };
}

function publicRoute(path: string, operation: PublicOperation): Route {
  return { path, operations: { GET: operation }, isPublic: true };
}

export function allowOf({ operations }: Route): string {
  return [...Object.keys(operations), "OPTIONS"].join(", ").replace("GET", "GET, HEAD");
}

/** `uri-host [":" port]` (RFC 3986 section 3.2, RFC 9110 section 7.2), without user information. */
const HOST_PATTERN = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * The scheme and the host that the client called. Throws `malformed_request` if the host is missing on a path that needs
 * a key, or malformed: Deno copies it into the URL unchanged, so a slash or a question mark would change the path. Nor
 * does Deno check the authority of a target in absolute form.
 */
export function originOfRequest(request: ServiceRequest): string {
  const { host, localPort, path, scheme } = request;
  if (host === undefined) {
    // A check of a load balancer may be HTTP/1.0 without a Host. Deno does not tell the version.
    if (findRoute(path)?.isPublic) return `${scheme}://localhost:${localPort}`;
    throw new HttpError("malformed_request", "The Host header is missing");
  }
  if (!HOST_PATTERN.test(host)) throw malformedHostError();
  return `${scheme}://${host}`;
}

export function malformedHostError(): HttpError {
  const message = "The Host header must be one host name with or without a port";
  return new HttpError("malformed_request", message);
}
