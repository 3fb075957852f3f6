/** Handles a request: routes it, checks its credentials, runs its operation and builds the response. */

import { isServerErrorStatus, STATUS_CODE } from "@std/http/status";
import { assertNever } from "../../events/assert_never.ts";
import type { ApiKey } from "../log/api_keys.ts";
import { type CreatePetDeps, type CreatePetRequest, expectMayAdd } from "../commands/create_pet.ts";
import { StoreError } from "../store/store_errors.ts";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import type { Instrumentation } from "../telemetry/instrumentation.ts";
import type { HttpResponse } from "./http_response.ts";
import type { BodyCancellation } from "./requests/body_cancellation.ts";
import { byteStream } from "./assets/byte_stream.ts";
import { applyIfNoneMatch } from "./conditional_read.ts";
import { Cors, optionsResponse } from "./cors.ts";
import { bearerToken } from "./requests/credentials.ts";
import { codeOf, errorResponse, HTTP_ERRORS, HttpError } from "./errors.ts";
import { handleCreatePet, handleGetPet, handleListPets, readCreatePetRequest } from "./pets.ts";
import { type PublicDeps, type PublicOperations, publicOperations } from "./public_operations.ts";
import type { CountedRequest, RateLimiter } from "./limits/rate_limiter.ts";
import type { RefusedCredentials } from "./limits/refused_credentials.ts";
import { bodyTooLargeError, isBodyBounded } from "./requests/request_body.ts";
import { expectHost, originOfRequest, requestTarget } from "./requests/request_target.ts";
import { BASE_PATH, findRoute, lastSegment, operationOf, rightPaths } from "./routes.ts";

export interface HandlerDeps extends CreatePetDeps, PublicDeps {
  /** The origins whose scripts may read responses. */
  corsOrigins: readonly string[];
  /** Rejects bodies that are still arriving, once the service shuts down. */
  bodyCancellation: BodyCancellation;
  instrumentation: Instrumentation;
  /** Limits the requests of each key; without it, there is no limit. */
  rateLimiter: RateLimiter | undefined;
  refusedCredentials: RefusedCredentials;
  report: Logger;
}

/** State of one request, filled in while it is handled. */
interface Progress {
  /** Set once the request counts for the rate limit of its key. */
  counted?: CountedRequest;
}

const JSON_HEADERS = { "content-type": "application/json" };

/** The connection of a request, as the server knows it. */
export interface Connection {
  clientAddress: () => string;
  /** The start of the URL of a request without a `Host`. */
  urlWithoutHost: string;
}

/** A server that does not know its connections omits `connection`. */
export type RequestHandler = (request: Request, connection?: Connection) => Promise<Response>;

/**
 * Creates the service as a function from `Request` to `Response`. It never rejects: a failure becomes an
 * Error body.
 */
export function createHandler(deps: HandlerDeps): RequestHandler {
  const operations = publicOperations(deps);
  const cors = new Cors(deps.corsOrigins);
  // A proxy may serve the service under a path.
  const root = new URL(deps.addresses.production ?? "http://localhost/v1").pathname
    .slice(0, -BASE_PATH.length);
  // A counter is much cheaper than a new ULID for each request.
  const instanceId = deps.runtime.newId();
  let requests = 0;
  return async (request, connection) => {
    const requestId = `${instanceId}-${++requests}`;
    deps.instrumentation.onRequest(request, requestId);
    const progress: Progress = {};
    let response: HttpResponse;
    try {
      const host = expectHost(request, connection?.urlWithoutHost);
      const baseUrl = deps.addresses.production ?? originOfRequest(request.url, host) + BASE_PATH;
      response = await dispatch(request, baseUrl, operations, cors, deps, progress);
      response = applyIfNoneMatch(response, request.headers);
    } catch (thrown) {
      response = errorResponse(thrown, root);
      const { status } = response;
      const isLogged = thrown instanceof StoreError && thrown.isLogged;
      if (isServerErrorStatus(status) && !isLogged) {
        reportFailure(deps.report, request, requestId, status, thrown);
      }
      if (status === STATUS_CODE.TooManyRequests) await deps.rateLimiter?.holdBack();
      if (status === STATUS_CODE.Unauthorized) {
        const isMissing = thrown instanceof HttpError && thrown.code === "missing_credentials";
        const reason = isMissing ? "missing" : "invalid";
        deps.refusedCredentials.note(reason, request.headers, connection?.clientAddress);
      }
    }
    // For HEAD, the server omits the body and keeps its Content-Length.
    return responseOf(cors.share(response, request), requestId, progress.counted);
  };
}

/**
 * Runs the operation of a request. The request's key is checked before its path and method. `baseUrl` is the
 * address of the interface in links.
 */
function dispatch(
  request: Request,
  baseUrl: string,
  operations: PublicOperations,
  cors: Cors,
  deps: HandlerDeps,
  progress: Progress,
): HttpResponse | Promise<HttpResponse> {
  const { path, search } = requestTarget(request.url);
  const { method } = request;
  const match = findRoute(path);
  const respond = match?.isPublic
    ? operations.find(match.operations.GET, path, request.headers)
    : undefined;
  // A page that is only for browsers is an unknown path for others, for which a key is needed too.
  const route = match?.isPublic && respond === undefined ? undefined : match;
  const preflight = route && cors.preflightResponse(request, route.allow);
  // These responses need no key, and the server would read an unbounded body to its end.
  if ((preflight ?? respond) && !isBodyBounded(request.headers)) throw bodyTooLargeError();
  if (preflight !== undefined) return preflight;
  if (route !== undefined && respond !== undefined) {
    return operationOf(route, method) === undefined
      ? respondWithMethods(method, route.allow)
      : respond(request.headers);
  }
  const token = bearerToken(request.headers);
  const operation = route?.isPublic === false ? operationOf(route, method) : undefined;
  if (operation === "createPet") return createPet(request, baseUrl, search, token, deps, progress);
  const { heads, runtime, keys, pets } = deps;
  return heads.use(async (head) => {
    const key = await keys.authorize(token, head, runtime.now());
    expectWithinLimit(key, deps, progress);
    if (route === undefined) throw HTTP_ERRORS.unknownPath(rightPaths(path, baseUrl));
    switch (operation) {
      case "listPets":
        return await handleListPets(pets, head, search, baseUrl);
      case "getPet":
        return await handleGetPet(pets, head, lastSegment(path), search, baseUrl);
      case undefined:
        return respondWithMethods(method, route.allow);
      default:
        return assertNever(operation);
    }
  });
}

/** Responds to OPTIONS. Throws `method_not_allowed` for any other method. */
function respondWithMethods(method: string, allow: string): HttpResponse {
  if (method !== "OPTIONS") throw HTTP_ERRORS.methodNotAllowed(allow);
  return optionsResponse(allow);
}

/**
 * Creates a pet without a read of the head, because the commit itself checks the key. A cached key is enough
 * if the head was seen recently. Before any other error is returned, the key is checked against a fresh head.
 * The body is not read if the key is not live or must not add pets.
 */
async function createPet(
  request: Request,
  baseUrl: string,
  search: string,
  token: string,
  deps: HandlerDeps,
  progress: Progress,
): Promise<HttpResponse> {
  const { heads, keys } = deps;
  const head = heads.recent;
  const cached = head === undefined ? undefined : keys.cached(token, head);
  const key = cached ?? await authorize(token, deps);
  let createRequest: CreatePetRequest;
  try {
    expectWithinLimit(key, deps, progress);
    expectMayAdd(key);
    createRequest = await readCreatePetRequest(request, search, token, deps);
  } catch (error) {
    await authorize(token, deps);
    throw error;
  }
  return await handleCreatePet(deps, createRequest, baseUrl);
}

/**
 * Resolves to the token's key if it is live at a fresh head. Rejects with `invalid_credentials` otherwise.
 */
function authorize(token: string, { heads, runtime, keys }: HandlerDeps): Promise<ApiKey> {
  return heads.use((head) => keys.authorize(token, head, runtime.now()));
}

/** Counts a request of that key. Throws `rate_limited` if the key exceeds its limit. */
function expectWithinLimit(key: ApiKey, { rateLimiter }: HandlerDeps, progress: Progress): void {
  if (rateLimiter === undefined) return;
  progress.counted = rateLimiter.count(key.id);
  if (progress.counted.isAdmitted) return;
  throw HTTP_ERRORS.rateLimited(rateLimiter.perSecond);
}

export function responseOf(
  { status, body, headers, contentHeaders = JSON_HEADERS }: HttpResponse,
  requestId: string,
  counted?: CountedRequest,
): Response {
  const fields: Record<string, string> = { "x-request-id": requestId, ...headers };
  if (body !== null) Object.assign(fields, contentHeaders);
  if (counted !== undefined) Object.assign(fields, counted.headers);
  return new Response(body instanceof Uint8Array ? byteStream(body) : body, {
    status,
    headers: fields,
  });
}

function reportFailure(
  report: Logger,
  request: Request,
  requestId: string,
  status: number,
  thrown: unknown,
): void {
  const { path } = requestTarget(request.url);
  const reason = reasonOf(thrown);
  // 503 is a temporary condition, not a defect of the service.
  report(status === STATUS_CODE.ServiceUnavailable ? "warn" : "error", "request_failed", {
    requestId,
    method: request.method,
    path,
    status,
    code: codeOf(thrown),
    reason,
  });
}
