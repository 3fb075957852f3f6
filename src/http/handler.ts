/** Handles a request: routes it, checks its credentials, runs its operation and builds the response. */

import type { ApiKey } from "../projections/api_key.ts";
import type { CreatePetDeps, CreatePetRequest } from "../commands/create_pet.ts";
import { ServiceError } from "../service_error.ts";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import type { Instrumentation } from "../telemetry/instrumentation.ts";
import type { HttpResponse } from "./http_response.ts";
import type { BodyCancellation } from "./body_cancellation.ts";
import { byteStream } from "./byte_stream.ts";
import { applyIfNoneMatch } from "./conditional_read.ts";
import { Cors } from "./cors.ts";
import { bearerToken } from "./credentials.ts";
import { errorResponse, HttpError } from "./errors.ts";
import {
  handleCreatePet,
  handleGetPet,
  handleListPets,
  PETS_PATH,
  readCreatePetRequest,
} from "./pets.ts";
import { type PublicDeps, type PublicRoutes, publicRoutes } from "./public_routes.ts";
import type { CountedRequest, RateLimiter } from "./rate_limiter.ts";
import type { RefusedCredentials } from "./refused_credentials.ts";
import { isBodyBounded, tooLarge } from "./request_body.ts";
import { expectHost, requestTarget } from "./request_target.ts";

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
  /** Set when the request was counted for the rate limit of its key. */
  counted?: CountedRequest;
}

const READ_METHODS = "GET, HEAD";
const PETS_METHODS = `${READ_METHODS}, POST`;
const PET_PATH_PREFIX = `${PETS_PATH}/`;
const JSON_HEADERS = { "content-type": "application/json" };

/** Facts about the connection of a request, supplied by the server. */
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
export function createHandler(parts: HandlerDeps): RequestHandler {
  const open = publicRoutes(parts);
  const cors = new Cors(parts.corsOrigins);
  return async (request, connection) => {
    parts.instrumentation.onRequest(request);
    const requestId = parts.runtime.newId();
    const progress: Progress = {};
    let answer: HttpResponse;
    try {
      expectHost(request, connection?.urlWithoutHost);
      answer = await answerTo(request, open, cors, parts, progress);
      answer = applyIfNoneMatch(answer, request.headers);
    } catch (thrown) {
      answer = errorResponse(thrown);
      if (answer.status >= 500) reportFailure(parts.report, request, requestId, answer, thrown);
      if (answer.status === 429) await parts.rateLimiter?.holdBack();
      if (answer.status === 401) {
        const isMissing = thrown instanceof HttpError && thrown.code === "missing_credentials";
        const reason = isMissing ? "missing" : "invalid";
        parts.refusedCredentials.note(reason, request.headers, connection?.clientAddress);
      }
    }
    // For HEAD, the server omits the body and keeps its Content-Length.
    return responseOf(cors.share(answer, request), requestId, progress.counted);
  };
}

function answerTo(
  request: Request,
  open: PublicRoutes,
  cors: Cors,
  parts: HandlerDeps,
  progress: Progress,
): HttpResponse | Promise<HttpResponse> {
  const { path, search } = requestTarget(request.url);
  const { method } = request;
  const isRead = method === "GET" || method === "HEAD";
  const answerToAnybody = open.get(path);
  const petId = petIdOf(path);
  const isPublicOrPet = answerToAnybody !== undefined || petId !== undefined;
  const methods = isPublicOrPet ? READ_METHODS : path === PETS_PATH ? PETS_METHODS : undefined;
  const answerToPreflight = methods && cors.answerToPreflight(request, methods);
  // These responses need no key, and the server would read an unbounded body to its end.
  if ((answerToPreflight ?? answerToAnybody) && !isBodyBounded(request.headers)) throw tooLarge();
  if (answerToPreflight !== undefined) return answerToPreflight;
  if (answerToAnybody !== undefined) {
    if (!isRead) throw methodNotAllowed(READ_METHODS);
    return answerToAnybody(request.headers);
  }
  const token = bearerToken(request.headers.get("authorization"));
  if (method === "POST" && path === PETS_PATH) {
    return answerToCreate(request, search, token, parts, progress);
  }
  const { heads, runtime, keys, pets } = parts;
  return heads.use(async (head) => {
    const key = await keys.authorize(token, head, runtime.now());
    expectWithinLimit(key, parts, progress);
    if (methods === undefined) throw new HttpError("not_found", "Nothing stands at this path");
    if (!isRead) throw methodNotAllowed(methods);
    return petId === undefined
      ? await handleListPets(pets, head, search)
      : await handleGetPet(pets, head, petId, search);
  });
}

/**
 * Creates a pet without a read of the head, because the commit itself checks the key. A cached key is enough
 * if the head was seen recently. Before any other error is returned, the key is checked against a fresh head.
 * The body is not read if the key is not live.
 */
async function answerToCreate(
  request: Request,
  search: string,
  token: string,
  parts: HandlerDeps,
  progress: Progress,
): Promise<HttpResponse> {
  const { heads, keys } = parts;
  const head = heads.recent;
  const cached = head === undefined ? undefined : keys.cached(token, head);
  const key = cached ?? await authorize(token, parts);
  let order: CreatePetRequest;
  try {
    expectWithinLimit(key, parts, progress);
    order = await readCreatePetRequest(request, search, token, parts);
  } catch (refusal) {
    await authorize(token, parts);
    throw refusal;
  }
  return await handleCreatePet(parts, order);
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
  const { perSecond } = rateLimiter;
  throw new HttpError("rate_limited", `The rate limit of an API key is ${perSecond} per second`);
}

/** The `{petId}` segment of a pet's path, not validated; `undefined` if the path is not that of one pet. */
function petIdOf(path: string): string | undefined {
  if (!path.startsWith(PET_PATH_PREFIX)) return undefined;
  const petId = path.slice(PET_PATH_PREFIX.length);
  return petId === "" || petId.includes("/") ? undefined : petId;
}

function methodNotAllowed(allow: string): HttpError {
  return new HttpError("method_not_allowed", `This path knows ${allow}`, { allow });
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
  { status }: HttpResponse,
  thrown: unknown,
): void {
  const { path } = requestTarget(request.url);
  const isOurs = thrown instanceof ServiceError || thrown instanceof HttpError;
  const code = isOurs ? thrown.code : "internal_error";
  const reason = reasonOf(thrown);
  // 503 is a temporary condition, not a defect of the service.
  report(status === 503 ? "warn" : "error", "request_failed", {
    requestId,
    method: request.method,
    path,
    status,
    code,
    reason,
  });
}
