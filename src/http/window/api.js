// Requests to the interface, with the API key of this tab. A request is repeated while the service is away.

import { setState, state } from "./state.js";

/** 0 is the status of a lost connection. */
const AWAY_STATUSES = [0, 408, 429, 502, 503, 504];
const RATE_LIMITED = 429;
const WRITE_TRIES = 8;
const BACK_OFF_MS = 250;
const BACK_OFF_LIMIT_MS = 5_000;
const REQUEST_LIMIT_MS = 60_000;

/**
 * Resolves to the headers, the body and the path of the next page. Rejects with the Error of the interface, or with one
 * that has only a `message`.
 */
export async function request(path, options) {
  const response = await send(path, options);
  const text = await response.text();
  return {
    headers: response.headers,
    body: text === "" ? null : parseJson(text),
    nextPage: nextPageOf(response),
  };
}

/** Sends a write. With the same Idempotency-Key, it does nothing twice. */
export function write(method, path, pet, headers) {
  return request(path, writeOptions(method, pet, headers));
}

/** The options of `fetch()` for a write. */
export function writeOptions(method, pet, headers) {
  return {
    method,
    body: pet === undefined ? undefined : formatPet(pet),
    headers: {
      "content-type": "application/json",
      "idempotency-key": newIdempotencyKey(),
      ...headers,
    },
  };
}

/** On plain HTTP to another machine, there is no `crypto.randomUUID()`. */
export function newIdempotencyKey() {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

/** Resolves to a response that is a success. A read is repeated without limit, a write {@linkcode WRITE_TRIES} times. */
export async function send(path, options = {}) {
  const isWrite = options.method !== undefined;
  for (let tries = 1;; tries++) {
    const response = await fetchOnce(path, options);
    if (response.ok) {
      noteBack();
      return response;
    }
    const error = await errorOf(response);
    const isReadFailed = !isWrite && response.status >= 500;
    const isLastTry = isWrite && tries === WRITE_TRIES;
    const isRepeated = (isAway(response) || isReadFailed) && !isLastTry;
    if (!isRepeated) throw error;
    noteAway(response, error);
    await wait(pauseMs(response, tries));
  }
}

/** Resolves to a response with status 0 if the connection is lost. */
export async function fetchOnce(path, options) {
  const headers = { ...options.headers, authorization: `Bearer ${state.apiKey}` };
  const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
  try {
    return await fetch(`v1/${path}`, { ...options, headers, signal });
  } catch {
    return Response.error();
  }
}

/** Whether the same request may succeed later. */
export function isAway({ status }) {
  return AWAY_STATUSES.includes(status);
}

/** The page says that the service does not respond. A client at its rate limit only waits. */
export function noteAway({ status }, { message }) {
  if (status === RATE_LIMITED) return;
  setState({ connectionProblem: `${message}. Trying again …` });
}

export function noteBack() {
  if (state.connectionProblem !== "") setState({ connectionProblem: "" });
}

export async function errorOf(response) {
  try {
    return await response.json();
  } catch {
    return { message: "Connection lost" };
  }
}

/** How long to wait before another try, at least as long as the service asks. */
export function pauseMs(response, tries) {
  const longestMs = Math.min(BACK_OFF_LIMIT_MS, BACK_OFF_MS * 2 ** tries);
  const backOffMs = longestMs * (0.5 + Math.random() / 2);
  // A proxy may send a date, which is no number.
  const retryAfterMs = (Number(response.headers.get("retry-after")) || 0) * 1_000;
  return Math.max(backOffMs, retryAfterMs);
}

export function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Leaves the host out, because it may be one that only other clients can reach. */
function nextPageOf({ headers }) {
  const link = headers.get("link") ?? "";
  return /<[^?]*\/v1\/([^>]*)>; rel="next"/.exec(link)?.[1];
}

/** A category may exceed the integers of JavaScript, so it becomes a text. */
export function parseJson(text) {
  return JSON.parse(text.replaceAll(/("categoryId":)(-?\d+)/g, '$1"$2"'));
}

/** The category becomes an integer again, unless it is none: then the service refuses it. */
function formatPet(pet) {
  return JSON.stringify(pet).replace(/("categoryId":)"(-?(?:0|[1-9]\d*))"/, "$1$2");
}
