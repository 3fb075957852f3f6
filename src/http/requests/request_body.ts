import { Buffer } from "node:buffer";
import type { Runtime } from "../../runtime/runtime.ts";
import { HTTP_ERRORS, HttpError } from "../errors.ts";

/** Maximum length of a body, in bytes. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/**
 * Maximum time for a body to arrive, in milliseconds. The service then responds and reads no further request.
 * Deno's server leaves the socket open until the client or a proxy closes it.
 */
export const BODY_LIMIT_MS = 10_000;

/**
 * Tells all readers of bodies to stop waiting. An `AbortSignal` would work too, but it costs each request a
 * listener, and a search through all listeners to remove it.
 */
export class BodyCancellation {
  #isCancelled = false;
  #waiting = new Set<() => void>();

  /**
   * Calls `onCancel` on cancellation, or at once if that has happened. The returned function unregisters
   * `onCancel`.
   */
  wait(onCancel: () => void): () => void {
    if (this.#isCancelled) onCancel();
    else this.#waiting.add(onCancel);
    return () => void this.#waiting.delete(onCancel);
  }

  cancel(): void {
    this.#isCancelled = true;
    for (const onCancel of this.#waiting) onCancel();
    this.#waiting.clear();
  }
}

export interface BodyLimits {
  runtime: Runtime;
  /** Rejects bodies that are still arriving, once the service shuts down. */
  bodyCancellation: BodyCancellation;
}

const DIGITS = /^[0-9]+$/;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const lenientDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Resolves to the text of a JSON body. Rejects with `unsupported_media_type`, `malformed_request`,
 * `body_too_large`, `request_timeout`, `shutting_down`, and, if the body is not UTF-8 or breaks off,
 * `malformed_body`.
 */
export async function readJsonBody(request: Request, limits: BodyLimits): Promise<string> {
  const { headers } = request;
  const declared = headers.get("content-length");
  const contentType = headers.get("content-type");
  if (contentType === null) {
    const isEmpty = declared === "0" || request.body === null;
    throw isEmpty ? HTTP_ERRORS.emptyBody() : HTTP_ERRORS.missingContentType();
  }
  if (!isJson(contentType)) throw HTTP_ERRORS.otherContentType();
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw HTTP_ERRORS.encodedBody();
  }
  if (declared !== null && !DIGITS.test(declared)) throw HTTP_ERRORS.malformedContentLength();
  if (Number(declared) > BODY_LIMIT_BYTES) throw bodyTooLargeError();
  // The server enforces a declared length, so the chunks need no check.
  const isDeclared = declared !== null && headers.get("transfer-encoding") === null;
  const bytes = isDeclared
    ? await withinTime(request.bytes(), limits)
    : await readChunks(request, limits);
  try {
    return decoder.decode(bytes);
  } catch {
    throw HTTP_ERRORS.notUtf8(1 + firstInvalidByte(bytes));
  }
}

/** The index of the first byte that is not UTF-8. */
function firstInvalidByte(bytes: Uint8Array): number {
  // Every invalid sequence becomes a replacement character, whose bytes differ from it.
  const replaced = new TextEncoder().encode(lenientDecoder.decode(bytes));
  return bytes.findIndex((byte, index) => byte !== replaced[index]);
}

/**
 * Readers of bodies that were abandoned before their end. If a reader released the body before the response
 * is sent, Deno would read the rest of the body.
 */
export const abandonedBodies = new WeakMap<Request, ReadableStreamDefaultReader>();

/**
 * Whether a request has no body or declares one within {@linkcode BODY_LIMIT_BYTES}, which is cheap to read.
 */
export function isBodyBounded(headers: Headers): boolean {
  if (headers.get("transfer-encoding") !== null) return false;
  const declared = headers.get("content-length");
  return declared === null || DIGITS.test(declared) && Number(declared) <= BODY_LIMIT_BYTES;
}

export function bodyTooLargeError(): HttpError {
  return HTTP_ERRORS.bodyTooLarge(BODY_LIMIT_BYTES);
}

async function readChunks(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  try {
    return await withinTime(readAll(reader), limits);
  } catch (error) {
    abandonedBodies.set(request, reader);
    throw error;
  }
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    length += value.length;
    if (length > BODY_LIMIT_BYTES) throw bodyTooLargeError();
    chunks.push(value);
  }
}

async function withinTime<T>(
  reading: Promise<T>,
  { runtime, bodyCancellation }: BodyLimits,
): Promise<T> {
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const stopWaiting = bodyCancellation.wait(() => reject(HTTP_ERRORS.shuttingDown()));
  const giveUp = () => reject(HTTP_ERRORS.bodyTimeout(BODY_LIMIT_MS));
  const cancel = runtime.setTimer(BODY_LIMIT_MS, giveUp);
  try {
    return await Promise.race([reading, givenUp]);
  } catch (error) {
    // If the body cannot be read to its end, the client broke it off, whatever error the server reports.
    throw error instanceof HttpError ? error : HTTP_ERRORS.brokenOffBody();
  } finally {
    cancel();
    stopWaiting();
  }
}

function isJson(contentType: string): boolean {
  if (contentType === "application/json") return true;
  const [type, ...parameters] = contentType.toLowerCase().split(";").map((part) => part.trim());
  return type === "application/json" &&
    parameters.every((parameter) => /^$|^charset="?utf-8"?$/.test(parameter));
}
