/** The routes of the service, made from its operations: the one table for the handler. */

import { BASE_PATH } from "../api/base_path.ts";
import { HttpError } from "../api/errors.ts";
import { type RequestHeaders, type ServiceRequest, urlParts } from "../runtime/service_request.ts";
import type { ApiOperation } from "./api_operations.ts";
import type { PublicOperation } from "./public_operation.ts";

/** A path, and what the service does for each method. */
export interface Route {
  path: string;
  /** Whether it is outside of the interface, and needs no key. */
  isPublic: boolean;
  /** Whether it is there only for clients that ask for HTML. */
  isForBrowsers: boolean;
  /** The operations by the methods of requests: HEAD has that of GET. */
  operations: ReadonlyMap<string, ApiOperation | PublicOperation>;
  /** The methods, for `Allow`. */
  allow: string;
}

export class RouteTable {
  /** In the order of their operations. */
  readonly routes: readonly Route[];
  /** A parameter has no name here. */
  readonly #byPath: ReadonlyMap<string, Route>;

  constructor(operations: readonly (ApiOperation | PublicOperation)[]) {
    const ofInterface = operations.filter(({ kind }) => kind !== "public");
    expectDifferent(ofInterface.map(({ id }) => id), "id");
    const byPath = Map.groupBy(operations, pathOf);
    this.routes = Array.from(byPath, ([path, ofPath]) => routeOf(path, ofPath));
    const patterns = this.routes.map(({ path }) => path.replace(/\{\w+\}/, "{}"));
    expectDifferent(patterns, "path");
    this.#byPath = new Map(this.routes.map((route, index) => [patterns[index], route]));
  }

  /** The route of a path. One for browsers matches if the client asks for HTML, or has no `headers`. */
  find(path: string, headers?: RequestHeaders): Route | undefined {
    const route = this.#byPath.get(path) ?? this.#findWithParameter(path);
    if (headers === undefined || !route?.isForBrowsers) return route;
    const acceptsHtml = /\btext\/html\b/i.test(headers.get("accept") ?? "");
    return acceptsHtml ? route : undefined;
  }

  #findWithParameter(path: string): Route | undefined {
    // No regular expression that is tried at each character, because anybody can send a long path.
    const lastSlash = path.lastIndexOf("/");
    const slashBefore = path.lastIndexOf("/", lastSlash - 1);
    return this.#findWithout(path, lastSlash + 1, path.length) ??
      this.#findWithout(path, slashBefore + 1, lastSlash);
  }

  /** The route of a path whose segment from `start` to `end` is the parameter, which must not be empty. */
  #findWithout(path: string, start: number, end: number): Route | undefined {
    if (start >= end) return undefined;
    return this.#byPath.get(`${path.slice(0, start)}{}${path.slice(end)}`);
  }

  /** The paths of the interface, as a part of a sentence. */
  pathsAt(baseUrl: string): string {
    const base = urlParts(baseUrl).path.slice(0, -BASE_PATH.length);
    const paths = this.routes.filter(({ isPublic }) => !isPublic).map(({ path }) => base + path);
    return `${paths.slice(0, -1).join(", ")} or ${paths.at(-1)}`;
  }
}

function pathOf(operation: ApiOperation | PublicOperation): string {
  return operation.kind === "public" ? operation.path : BASE_PATH + operation.path;
}

function routeOf(path: string, operations: readonly (ApiOperation | PublicOperation)[]): Route {
  const methods = operations.map(({ method }) => method);
  expectDifferent(methods, `method of ${path}`);
  const byMethod = new Map<string, ApiOperation | PublicOperation>();
  for (const operation of operations) {
    byMethod.set(operation.method, operation);
    if (operation.method === "GET") byMethod.set("HEAD", operation);
  }
  return {
    path,
    isPublic: operations.every(({ kind }) => kind === "public"),
    isForBrowsers: operations.some((it) => it.kind === "public" && it.isForBrowsers),
    operations: byMethod,
    allow: [...byMethod.keys(), "OPTIONS"].join(", "),
  };
}

function expectDifferent(values: readonly string[], what: string): void {
  const repeated = values.find((it, index) => values.indexOf(it) !== index);
  if (repeated !== undefined) throw new Error(`Two operations have the ${what} ${repeated}`);
}

/** The message does not repeat the path, which may have a secret. */
export function unknownPathError(rightPaths: string): HttpError {
  return new HttpError("not_found", `The path does not exist: use ${rightPaths}`);
}

/** The paths at which people and programs look for a description that is elsewhere. */
const GUESS_OF_DOCS = new RegExp(
  "^(?:/api|/v\\d)*/(?:api-docs|docs|openapi|redoc|swagger|swagger-ui)" +
    "(?:\\.html|\\.json|\\.ya?ml|/|/index\\.html)?$",
);

export function isGuessOfDocs(path: string): boolean {
  return GUESS_OF_DOCS.test(path);
}

/** The paths of the reference and of the description, which are next to that of the interface. */
export function docsPathsAt(baseUrl: string): string {
  const folder = urlParts(baseUrl).path.slice(0, -BASE_PATH.length);
  return `${folder}/docs or ${folder}/openapi.json`;
}

/** `uri-host [":" port]` (RFC 3986 section 3.2, RFC 9110 section 7.2), without user information. */
const HOST_PATTERN = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * The scheme and the host that the client called. Throws `malformed_request` if the host is missing on a path that
 * needs a key, or malformed: Deno copies it into the URL unchanged, so a slash or a question mark would change the
 * path. Deno does not check the authority of a target in absolute form, either.
 */
export function originOfRequest(request: ServiceRequest, routes: RouteTable): string {
  const { host, localPort, path, scheme } = request;
  if (host === undefined) {
    // A check of a load balancer may be HTTP/1.0 without a Host. Deno does not tell the version.
    if (routes.find(path)?.isPublic) return `${scheme}://localhost:${localPort}`;
    throw new HttpError("malformed_request", "The Host header is missing");
  }
  if (!HOST_PATTERN.test(host)) throw malformedHostError();
  return `${scheme}://${host}`;
}

export function malformedHostError(): HttpError {
  const message = "The Host header must be one host name with or without a port";
  return new HttpError("malformed_request", message);
}

export function malformedTargetError(): HttpError {
  const message = "The address has a character that must be percent-encoded";
  return new HttpError("malformed_request", message);
}
