/** Handles a request: routes it, checks its credentials, runs its operation and builds the response. */

import { andThen, type BackgroundWork, type HeadReader } from "eventstore-less/parts";
import { reasonOf } from "eventstore-less/startup";
import { StoreError } from "eventstore-less/store";
import type { ApiKey } from "../keys/api_key.ts";
import { expectMayWrite } from "../keys/api_key_reader.ts";
import { REQUEST_LINE } from "../runtime/logger.ts";
import { redactKeys } from "../runtime/redact_keys.ts";
import {
  isBodyBounded,
  type RequestHandler,
  type ServiceRequest,
  type ServiceResponse,
} from "../runtime/service_request.ts";
import type { Instrumentation } from "../runtime/instrumentation.ts";
import {
  bodyLength,
  type HttpResponse,
  isLong,
  JSON_HEADERS,
  sharedStream,
} from "../api/http_response.ts";
import { applyIfNoneMatch } from "../api/conditional_read.ts";
import { BASE_PATH } from "../api/base_path.ts";
import { isPreflight, shareWith } from "./cors.ts";
import { bearerToken } from "../api/requests/credentials.ts";
import { codeOf, errorResponse, ERRORS, HttpError } from "../api/errors.ts";
import type { ApiDeps, ApiOperation } from "./api_operations.ts";
import type { PrepareWrite } from "../api/operation.ts";
import type { ApiRequest } from "../api/api_request.ts";
import type { PublicOperation } from "./public_operation.ts";
import type { CountedRequest, RateLimiter } from "./limits/rate_limiter.ts";
import { reportRefusedCredentials } from "./limits/refused_credentials.ts";
import type { TrustedProxies } from "../api/requests/trusted_proxies.ts";
import { ACCEPT_PATCH, bodyTooLargeError } from "../api/requests/request_body.ts";
import {
  docsPathsAt,
  isGuessOfDocs,
  originOfRequest,
  type Route,
  type RouteTable,
  unknownPathError,
} from "./routes.ts";

export interface HandlerDeps extends ApiDeps {
  /** Whether a line is logged for each response, but for probes that succeed; for a stream when it begins. */
  accessLog: boolean;
  background: BackgroundWork;
  /** The origins whose scripts may read responses. */
  corsOrigins: readonly string[];
  heads: HeadReader;
  instrumentation: Instrumentation;
  /** The address of the interface for clients; by default, the one that a client called. */
  publicUrl: string | undefined;
  rateLimiter: RateLimiter | undefined;
  routes: RouteTable;
  /** The proxies whose `X-Forwarded-For` names the client; `undefined` if none is trusted. */
  trustedProxies: TrustedProxies | undefined;
}

/** A request, and the facts that were found about it. They are also shown by an error, by the log and by the metrics. */
interface Exchange extends ApiRequest {
  /** `undefined` also if the route does not support the method. */
  operation?: ApiOperation | PublicOperation;
  apiKey?: ApiKey;
  /** `undefined` until the request counts for the rate limit of its key, and without a limit. */
  counted?: CountedRequest;
}

/** Maximum length of what a line of a request repeats of its method and of its path, in characters. */
const LOGGED_LENGTH = 1_024;

const PROBED_PATHS = ["/healthz", "/readyz"];

/** Creates the service. Its promises never reject: a failure becomes an Error body. */
export function createHandler(deps: HandlerDeps): RequestHandler {
  const { background, corsOrigins, instrumentation, publicUrl, rateLimiter, report } = deps;
  const { trustedProxies } = deps;
  // A counter is much cheaper than a new ULID for each request.
  const instanceId = deps.runtime.newId();
  const isTimed = deps.accessLog || instrumentation.onResponse !== undefined;
  let requests = 0;
  return async (request) => {
    requests++;
    const requestId = `${instanceId}-${requests}`;
    const beganMs = isTimed ? deps.runtime.monotonicNow() : 0;
    const exchange: Exchange = { request, requestId, baseUrl: "" };
    let response: HttpResponse;
    try {
      const origin = originOfRequest(request, deps.routes);
      exchange.baseUrl = publicUrl ?? origin + BASE_PATH;
      const responded = await respondInForeground(exchange);
      // A wait for events may outlast the time for which a head may be used. It reads in the background.
      response = responded.kind === "waits" ? await responded.finish() : responded.response;
      response = applyIfNoneMatch(response, request);
    } catch (thrown) {
      response = errorResponse(thrown);
      reportFailure(thrown, response.status, exchange);
      if (response.status === 429) await rateLimiter?.holdBack();
      if (response.status === 401) reportRefusal(thrown, request);
    }
    for (const failure of exchange.failures ?? []) {
      instrumentation.count("errors", { code: codeOf(failure) });
      reportFailure(failure, ERRORS[codeOf(failure)].status, exchange);
    }
    if (response.code !== undefined) instrumentation.count("errors", { code: response.code });
    if (corsOrigins.length > 0) response = shareWith(corsOrigins, response, request);
    if (isTimed) {
      const ms = deps.runtime.monotonicNow() - beganMs;
      const { measuredAs = exchange.operation?.id } = exchange;
      instrumentation.onResponse?.(measuredAs, response.status, ms / 1_000);
      if (deps.accessLog) logResponse(exchange, response, ms);
    }
    // For HEAD, the server omits the body and keeps its Content-Length.
    return responseOf(response, requestId, exchange.counted);
  };

  /** Counts the request as one in work, until it has a response or waits. */
  async function respondInForeground(exchange: Exchange): Promise<Responded> {
    background.requestBegan(exchange);
    try {
      const responded = await respond(exchange, deps);
      if (responded.kind === "waits") background.requestLeft(exchange);
      return responded;
    } finally {
      background.requestEnded(exchange);
    }
  }

  function reportRefusal(thrown: unknown, request: ServiceRequest): void {
    const reason = codeOf(thrown) === "missing_credentials" ? "missing" : "invalid";
    instrumentation.count("credentials.refused", { reason });
    if (reason !== "invalid") return;
    reportRefusedCredentials(report, request.headers, clientOf(request));
  }

  function logResponse(exchange: Exchange, response: HttpResponse, ms: number): void {
    const { request, requestId, apiKey } = exchange;
    const { status, code } = response;
    // Probes come every second from each balancer, and say nothing while they succeed.
    if (PROBED_PATHS.includes(request.path) && status < 400) return;
    const details = {
      // The query is left out, because it may be private.
      ...loggedTarget(exchange),
      status,
      code,
      ms: Math.round(ms * 1_000) / 1_000,
      bytes: request.method === "HEAD" ? 0 : bodyLength(response.body),
      address: clientOf(request),
      key: apiKey?.id,
      requestId,
    };
    report("info", REQUEST_LINE, details);
  }

  function clientOf({ clientAddress, headers }: ServiceRequest): string {
    return trustedProxies === undefined
      ? clientAddress
      : trustedProxies.clientOf(clientAddress, headers);
  }

  function reportFailure(thrown: unknown, status: number, exchange: Exchange): void {
    const isLogged = thrown instanceof StoreError && thrown.isLogged;
    if (status < 500 || isLogged) return;
    const { requestId } = exchange;
    const failure = { status, code: codeOf(thrown), reason: reasonOf(thrown) };
    // 503 is a temporary condition, not a defect of the service.
    const level = status === 503 ? "warn" : "error";
    report(level, "request_failed", { requestId, ...loggedTarget(exchange), ...failure });
  }
}

function loggedTarget({ request: { method, path } }: Exchange): { method: string; path: string } {
  return { method: shortened(method), path: shortened(path) };
}

/** Redaction does not recognise part of a key, so it comes before the cut. */
function shortened(text: string): string {
  if (text.length <= LOGGED_LENGTH) return text;
  return `${redactKeys(text).slice(0, LOGGED_LENGTH)}…`;
}

/** A response, or the rest of a request that may wait for long. */
type Responded =
  | { kind: "responds"; response: HttpResponse }
  | { kind: "waits"; finish: () => Promise<HttpResponse> };

/** Runs the operation of a request, and notes it in the exchange. */
function respond(exchange: Exchange, deps: HandlerDeps): Responded | Promise<Responded> {
  const { request } = exchange;
  const { headers, method, path } = request;
  const route = deps.routes.find(path, headers);
  if (needsNoKey(route, request) && !isBodyBounded(headers)) throw bodyTooLargeError();
  const operation = route?.operations.get(method);
  exchange.operation = operation;
  if (operation?.kind === "public") return andThen(operation.respond(exchange), responds);
  if (route !== undefined && (route.isPublic || isPreflight(request))) {
    return responds(respondWithMethods(method, route));
  }
  if (route === undefined && isGuessOfDocs(path)) {
    throw unknownPathError(docsPathsAt(exchange.baseUrl));
  }
  return respondToKey(operation, route, exchange, deps);
}

function needsNoKey(route: Route | undefined, request: ServiceRequest): boolean {
  if (route === undefined) return isGuessOfDocs(request.path);
  return route.isPublic || isPreflight(request);
}

/** The key is checked before the path and the method. */
function respondToKey(
  operation: ApiOperation | undefined,
  route: Route | undefined,
  exchange: Exchange,
  deps: HandlerDeps,
): Responded | Promise<Responded> {
  const { request: { method, headers }, baseUrl } = exchange;
  const token = bearerToken(headers);
  if (operation?.kind === "write") {
    return andThen(write(exchange, token, deps, operation.prepare), responds);
  }
  return deps.heads.use((entry) => {
    const authorized = deps.apiKeys.authorize(token, entry.head, deps.runtime.now());
    return andThen<ApiKey, Responded>(authorized, (apiKey) => {
      exchange.apiKey = apiKey;
      expectWithinLimit(apiKey, exchange, deps);
      if (route === undefined) throw unknownPathError(deps.routes.pathsAt(baseUrl));
      if (operation === undefined) return responds(respondWithMethods(method, route));
      if (operation.kind === "read") {
        return andThen(operation.respond(deps, exchange, entry, apiKey), responds);
      }
      return andThen(operation.prepare(deps, exchange, entry, token), waits);
    });
  });
}

function responds(response: HttpResponse): Responded {
  return { kind: "responds", response };
}

function waits(finish: () => Promise<HttpResponse>): Responded {
  return { kind: "waits", finish };
}

/** Responds to OPTIONS. Throws `method_not_allowed` for any other method. */
function respondWithMethods(method: string, route: Route): HttpResponse {
  const { allow } = route;
  if (method === "OPTIONS") {
    const headers = route.operations.has("PATCH") ? { allow, ...ACCEPT_PATCH } : { allow };
    return { status: 204, body: null, headers };
  }
  throw new HttpError("method_not_allowed", `The path supports only ${allow}`, { allow });
}

/**
 * The commit itself checks the key, so a cached key is enough if the head was seen recently. Before any other error
 * is returned, the key is checked against a fresh head. The body is not read if the key is not live or is read-only.
 */
async function write(
  exchange: Exchange,
  token: string,
  deps: HandlerDeps,
  prepare: PrepareWrite<HandlerDeps>,
): Promise<HttpResponse> {
  const { apiKeys, heads, runtime } = deps;
  const authorize = () => heads.use(({ head }) => apiKeys.authorize(token, head, runtime.now()));
  const head = heads.recent;
  const cached = head === undefined ? undefined : apiKeys.cached(token, head);
  const apiKey = cached ?? await authorize();
  let carryOut: () => Promise<HttpResponse>;
  exchange.apiKey = apiKey;
  try {
    expectWithinLimit(apiKey, exchange, deps);
    expectMayWrite(apiKey);
    carryOut = await prepare(deps, exchange, token);
    countRest(apiKey, exchange, deps);
  } catch (error) {
    await authorize();
    throw error;
  }
  return await carryOut();
}

/** Counts the request of a live key, and notes the count in the exchange. Throws `rate_limited` beyond the limit. */
function expectWithinLimit(apiKey: ApiKey, exchange: Exchange, { rateLimiter }: HandlerDeps): void {
  if (rateLimiter === undefined) return;
  const counted = rateLimiter.count(apiKey.id);
  exchange.counted = counted;
  if (counted.isAdmitted) return;
  const message = `The rate limit of an API key is ${rateLimiter.perSecond} per second`;
  throw new HttpError("rate_limited", message);
}

/** Counts the further requests of one that stands for several. It is carried out, but the next ones may have to wait. */
function countRest(apiKey: ApiKey, exchange: Exchange, { rateLimiter }: HandlerDeps): void {
  const { requests = 1 } = exchange;
  if (rateLimiter === undefined || requests === 1) return;
  exchange.counted = rateLimiter.charge(apiKey.id, requests - 1);
}

export function responseOf(
  { status, body, headers, contentHeaders = JSON_HEADERS }: HttpResponse,
  requestId: string,
  counted?: CountedRequest,
): ServiceResponse {
  const fields = { ...headers, "x-request-id": requestId, ...counted?.headers };
  if (body !== null) Object.assign(fields, contentHeaders);
  const hasLength = body instanceof Uint8Array || typeof body === "string" && isLong(body);
  if (!hasLength) return { status, headers: fields, body };
  // A stream has no length of its own.
  const headersOfBytes = { ...fields, "content-length": String(bodyLength(body)) };
  return { status, headers: headersOfBytes, body: isLong(body) ? sharedStream(body) : body };
}
