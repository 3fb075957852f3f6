/** Requests to the interface, with the API key of this tab. A request is repeated while the service is away. */

import { noteServiceTime } from "../parts/clock.ts";
import { noteAnswer, noteEnd, noteWaiting } from "../parts/connection.ts";
import { takeFirstList } from "./first_list.ts";
import { FIELDS, formatPet, messageOf, type Patch } from "./fields.ts";
import { keyForRequest, refuseKey, UNAUTHORIZED } from "./session.ts";
import { holdPageWhile } from "./unsaved.ts";
import type { NewPet } from "../../../events/pet.ts";

/** 0 is the status of a lost connection. */
const AWAY_STATUSES = [0, 408, 429, 502, 503, 504];
const RATE_LIMITED = 429;
/** The service knows an Idempotency-Key for 24 hours. */
const WRITE_LIMIT_MS = 12 * 3_600_000;
const BACK_OFF_MS = 250;
const BACK_OFF_LIMIT_MS = 5_000;
/** For the whole response, or for the headers of a stream. */
const REQUEST_LIMIT_MS = 60_000;

const UNKNOWN =
  "It is not known whether this was saved, because the service did not answer. Look before you try again";

/** Fields whose integers may exceed those of JavaScript. */
const INT64_FIELDS: readonly string[] = FIELDS.filter(({ isNumber }) => isNumber)
  .map(({ name }) => name);

/** A response that is an error, in words for people. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
  readonly status: number;
  /** The stable word of the interface; `undefined` if the error is not from the service. */
  readonly code: string | undefined;
  /** The message of the interface, which names fields as programs do. */
  readonly original: string;

  constructor(status: number, { code, message }: { code?: string; message: string }) {
    super(messageOf({ message }));
    this.status = status;
    this.code = code;
    this.original = message;
  }
}

export const NOT_FOUND = 404;
export const PRECONDITION_FAILED = 412;

/** Whether a write was refused because somebody has changed or removed its target since it was read. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof ResponseError &&
    [NOT_FOUND, PRECONDITION_FAILED].includes(error.status);
}

/** Whether a write was refused because somebody has removed its target. */
export function isOfNone(error: unknown): boolean {
  return error instanceof ResponseError && error.status === NOT_FOUND;
}

/** An ETag that nothing has: without one, no write is carried out. */
const NO_ETAG = '""';

export function etagOf(headers: Headers): string {
  return headers.get("etag") ?? NO_ETAG;
}

/** A successful response: `body` is `null` if there is none, `nextPage` the path of the next page. */
export interface Reply<Body> {
  headers: Headers;
  body: Body;
  nextPage: string | undefined;
  /** Whether an earlier try of the request may have landed. */
  isUnclear: boolean;
}

interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Ends the request, and its repetitions. */
  signal?: AbortSignal;
  /** The outcomes in a successful response. If the service was away for one of them, the request is repeated. */
  outcomesOf?: (text: string) => Outcome[];
}

interface Outcome {
  status: number;
  body?: unknown;
}

/** Reads a resource. Rejects with a {@linkcode ResponseError}, or if the signal is aborted. */
export async function request<Body>(
  path: string,
  options?: RequestOptions,
  int64Fields?: readonly string[],
): Promise<Reply<Body>> {
  const { response, isUnclear } = await send(path, options);
  // The body is there.
  const text = await response.text();
  return {
    headers: response.headers,
    body: text === "" ? null : parseJson(text, int64Fields),
    nextPage: nextPageOf(response),
    isUnclear,
  };
}

/** Sends a write. With the same Idempotency-Key, it does nothing twice. */
export function write<Body>(
  method: "POST" | "PATCH" | "DELETE",
  path: string,
  fields?: NewPet | Patch,
  headers?: Record<string, string>,
): Promise<Reply<Body>> {
  return request(path, writeOptions(method, fields, headers));
}

export function writeOptions(
  method: string,
  fields?: NewPet | Patch,
  headers?: Record<string, string>,
): RequestOptions {
  return {
    method,
    body: fields === undefined ? undefined : formatPet(fields),
    headers: {
      "content-type": "application/json",
      "idempotency-key": newIdempotencyKey(),
      ...headers,
    },
  };
}

/** On plain HTTP to another machine, there is no `crypto.randomUUID()`. */
export function newIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

/**
 * Resolves to a response that is a success. While the service is away, a read is repeated without limit, and a write for
 * {@linkcode WRITE_LIMIT_MS}; until then, the page is not left without a question.
 */
export async function send(path: string, options: RequestOptions = {}): Promise<Sent> {
  if (options.method === undefined) return await sendUntilAnswered(path, options);
  return await holdPageWhile(() => sendUntilAnswered(path, options));
}

interface Sent {
  response: Response;
  isUnclear: boolean;
}

async function sendUntilAnswered(path: string, options: RequestOptions): Promise<Sent> {
  const isWrite = options.method !== undefined;
  const id = Symbol(path);
  const startMs = Date.now();
  let isUnclear = false;
  try {
    for (let tries = 1;; tries++) {
      const response = await awayIn(await fetchWithKey(path, options), options);
      const mayChange = isAway(response) || !isWrite && response.status >= 500;
      if (!mayChange) noteAnswer();
      if (response.ok) return { response, isUnclear };
      const error = await errorOf(response);
      if (!mayChange) throw error;
      // A client at its rate limit only waits.
      if (response.status !== RATE_LIMITED) {
        isUnclear = true;
        noteWaiting(id, `${error.message}. Trying again …`);
      }
      await wait(pauseMs(response, tries), options.signal);
      // The computer may have slept for days.
      if (isWrite && Date.now() - startMs > WRITE_LIMIT_MS) throw new Error(UNKNOWN);
    }
  } finally {
    noteEnd(id);
  }
}

/**
 * Sends a request once. If the key is refused, the reader is asked for another one, and the request is sent again: so
 * nothing that the page holds is lost.
 */
async function fetchWithKey(path: string, options: RequestOptions): Promise<Response> {
  for (;;) {
    const apiKey = await keyForRequest();
    const headers = { ...options.headers, authorization: `Bearer ${apiKey}` };
    const begun = takeFirstList(path, apiKey);
    const response = await fetchOnce(path, { ...options, headers }, begun);
    if (response.status !== UNAUTHORIZED) return response;
    refuseKey(apiKey, (await errorOf(response)).message);
  }
}

/**
 * Resolves to a response with its body, or with that of a stream, and with status 0 if it does not come to its end. `begun`
 * is the response if the request is under way.
 */
async function fetchOnce(
  path: string,
  options: RequestOptions,
  begun: Promise<Response> | undefined,
): Promise<Response> {
  const isStream = options.headers?.accept === "text/event-stream";
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), REQUEST_LIMIT_MS);
  const signals = [limit.signal, options.signal].filter((it) => it !== undefined);
  try {
    const signal = AbortSignal.any(signals);
    const response = await (begun ?? fetch(`v1/${path}`, { ...options, signal }));
    noteServiceTime(response.headers.get("date"));
    if (isStream) return response;
    const text = await response.text();
    return new Response(text === "" ? null : text, response);
  } catch {
    options.signal?.throwIfAborted();
    return Response.error();
  } finally {
    clearTimeout(timer);
  }
}

/** The outcome for which the service was away as a response, if there is one; otherwise the response. */
async function awayIn(response: Response, { outcomesOf }: RequestOptions): Promise<Response> {
  if (outcomesOf === undefined || !response.ok) return response;
  const text = await response.text();
  const away = outcomesOf(text).find(isAway);
  if (away === undefined) return new Response(text, response);
  return new Response(JSON.stringify(away.body), { status: away.status });
}

/** Whether the same request may succeed later. */
function isAway({ status }: Outcome | Response): boolean {
  return AWAY_STATUSES.includes(status);
}

async function errorOf(response: Response): Promise<ResponseError> {
  const { status } = response;
  try {
    return new ResponseError(status, await response.json());
  } catch {
    return new ResponseError(status, { message: "Connection lost" });
  }
}

/** How long to wait before another try, at least as long as the service asks. */
function pauseMs(response: Response, tries: number): number {
  const longestMs = Math.min(BACK_OFF_LIMIT_MS, BACK_OFF_MS * 2 ** tries);
  const backOffMs = longestMs * (0.5 + Math.random() / 2);
  // A proxy may send a date, which is no number.
  const retryAfterMs = (Number(response.headers.get("retry-after")) || 0) * 1_000;
  return Math.max(backOffMs, retryAfterMs);
}

/** Resolves when the time is over, or the browser is online again. Rejects if the signal is aborted before. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const ended = new AbortController();
  const timer = setTimeout(resolve, ms);
  addEventListener("online", () => resolve(), ended);
  signal?.addEventListener("abort", () => reject(signal.reason), ended);
  return promise.finally(() => {
    clearTimeout(timer);
    ended.abort();
  });
}

/** Leaves the host out, because it may be one that only other clients can reach. */
function nextPageOf({ headers }: Response): string | undefined {
  const link = headers.get("link") ?? "";
  return /<[^?]*\/v1\/([^>]*)>; rel="next"/.exec(link)?.[1];
}

type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;

/** Integers of 64 bits are `bigint`, as in `events/`. By default, their members are those of animals. */
export function parseJson(text: string, int64Fields: readonly string[] = INT64_FIELDS) {
  const revive: Reviver = (key, value, { source }) => {
    const isInt64 = typeof value === "number" && int64Fields.includes(key);
    return isInt64 ? BigInt(source) : value;
  };
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}
