/** The way of a request: credentials, route, operation, answer. */

import type { CreatePetOrder, CreatePetParts } from "../commands/create_pet.ts";
import { Failure } from "../failure.ts";
import { reasonOf, type Report } from "../report.ts";
import type { Answer } from "./answer.ts";
import type { BodyCut } from "./body_cut.ts";
import { byteStream } from "./byte_stream.ts";
import { unlessHeld } from "./conditional_read.ts";
import { Cors } from "./cors.ts";
import { bearerToken } from "./credentials.ts";
import { errorAnswer, Refusal } from "./errors.ts";
import { createPet, getPet, listPets, PETS_PATH, readOrder } from "./pets.ts";
import { type PublicParts, type PublicRoutes, publicRoutes } from "./public_routes.ts";
import { expectHost, requestTarget } from "./request_target.ts";

export interface HandlerParts extends CreatePetParts, PublicParts {
  /** The origins whose scripts may read answers. */
  corsOrigins: readonly string[];
  /** Aborts when bodies that are still arriving are waited for no longer. */
  bodyCut: BodyCut;
  report: Report;
}

const READ_METHODS = "GET, HEAD";
const PETS_METHODS = `${READ_METHODS}, POST`;
const PET_PATH_PREFIX = `${PETS_PATH}/`;
const JSON_HEADERS = { "content-type": "application/json" };

/** What the server knows of a request's connection. */
export interface Connection {
  clientAddress: () => string;
  /** How the URL of a request begins that came without a `Host`. */
  urlWithoutHost: string;
}

/** Any server of web standards can call it; one that knows its connections says so. */
export type RequestHandler = (request: Request, connection?: Connection) => Promise<Response>;

/** The service as a function of web standards. It never rejects: every failure becomes an Error answer. */
export function createHandler(parts: HandlerParts): RequestHandler {
  const open = publicRoutes(parts);
  const cors = new Cors(parts.corsOrigins);
  return async (request, connection) => {
    const requestId = parts.host.newId();
    let answer: Answer;
    try {
      expectHost(request, connection?.urlWithoutHost);
      answer = await answerTo(request, open, cors, parts);
      answer = unlessHeld(answer, request.headers);
    } catch (thrown) {
      answer = errorAnswer(thrown);
      if (answer.status >= 500) reportFailure(parts.report, request, requestId, answer, thrown);
    }
    // The server leaves the body out of an answer to HEAD, and keeps its length.
    return responseOf(cors.share(answer, request), requestId);
  };
}

function answerTo(
  request: Request,
  open: PublicRoutes,
  cors: Cors,
  parts: HandlerParts,
): Answer | Promise<Answer> {
  const { path, search } = requestTarget(request.url);
  const { method } = request;
  const isRead = method === "GET" || method === "HEAD";
  const answerToAnybody = open.get(path);
  const petId = petIdOf(path);
  const isPublicOrPet = answerToAnybody !== undefined || petId !== undefined;
  const methods = isPublicOrPet ? READ_METHODS : path === PETS_PATH ? PETS_METHODS : undefined;
  if (methods !== undefined) {
    const answerToPreflight = cors.answerToPreflight(request, methods);
    if (answerToPreflight !== undefined) return answerToPreflight;
  }
  if (answerToAnybody !== undefined) {
    if (isRead) return answerToAnybody(request.headers);
    throw methodNotAllowed(READ_METHODS);
  }
  const token = bearerToken(request.headers.get("authorization"));
  if (method === "POST" && path === PETS_PATH) {
    return answerToCreate(request, search, token, parts);
  }
  const { heads, host, keys, pets } = parts;
  return heads.use(async (head) => {
    await keys.authorize(token, head, host.now());
    if (methods === undefined) throw new Refusal("not_found", "Nothing stands at this path");
    if (!isRead) throw methodNotAllowed(methods);
    return petId === undefined
      ? await listPets(pets, head, search)
      : await getPet(pets, head, petId, search);
  });
}

/**
 * An addition needs no read of the head before it: the commit's own check proves the key. So a cached key
 * may go ahead if the head was seen a moment ago, but only a proven key is told another reason for a refusal.
 * Nothing of the body is read for a key that is not live.
 */
async function answerToCreate(
  request: Request,
  search: string,
  token: string,
  parts: HandlerParts,
): Promise<Answer> {
  const { heads, keys } = parts;
  const isLive = heads.recent !== undefined && keys.cached(token, heads.recent) !== undefined;
  if (!isLive) await authorize(token, parts);
  let order: CreatePetOrder;
  try {
    order = await readOrder(request, search, token, parts);
  } catch (refusal) {
    await authorize(token, parts);
    throw refusal;
  }
  return await createPet(parts, order);
}

/** Resolves where the token's key stands on the head as of now. */
async function authorize(token: string, { heads, host, keys }: HandlerParts): Promise<void> {
  await heads.use((head) => keys.authorize(token, head, host.now()));
}

/** What stands for `{petId}` in the path of a pet: one segment, whatever it holds. */
function petIdOf(path: string): string | undefined {
  if (!path.startsWith(PET_PATH_PREFIX)) return undefined;
  const petId = path.slice(PET_PATH_PREFIX.length);
  return petId === "" || petId.includes("/") ? undefined : petId;
}

function methodNotAllowed(allow: string): Refusal {
  return new Refusal("method_not_allowed", `This path knows ${allow}`, { allow });
}

function responseOf(
  { status, body, headers, contentHeaders = JSON_HEADERS }: Answer,
  requestId: string,
): Response {
  return new Response(body instanceof Uint8Array ? byteStream(body) : body, {
    status,
    headers: body === null
      ? { "x-request-id": requestId, ...headers }
      : { ...contentHeaders, "x-request-id": requestId, ...headers },
  });
}

function reportFailure(
  report: Report,
  request: Request,
  requestId: string,
  { status }: Answer,
  thrown: unknown,
): void {
  const { path } = requestTarget(request.url);
  const isOurs = thrown instanceof Failure || thrown instanceof Refusal;
  const code = isOurs ? thrown.code : "internal_error";
  const reason = reasonOf(thrown);
  // A store that is away is no fault of the service, and its return is what ends the trouble.
  report(status === 503 ? "warn" : "error", "request_failed", {
    requestId,
    method: request.method,
    path,
    status,
    code,
    reason,
  });
}
