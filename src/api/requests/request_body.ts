import { Buffer } from "node:buffer";
import type { Runtime } from "../../runtime/runtime.ts";
import { HttpError } from "../errors.ts";

/** Maximum length of a body, in bytes. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/**
 * Maximum time for a body to arrive, in milliseconds. Then the service responds and reads no further request. Deno
 * leaves the socket open until the client or a proxy closes it.
 */
export const BODY_LIMIT_MS = 10_000;

const JSON_TYPES = ["application/json"];

/** The media types of a JSON Merge Patch (RFC 7396). */
export const PATCH_TYPES = ["application/merge-patch+json", ...JSON_TYPES];

/** RFC 5789 section 3.1. */
export const ACCEPT_PATCH = { "accept-patch": PATCH_TYPES.join(", ") };

const DIGITS = /^[0-9]+$/;

/** Ends the connection, because the rest of the body is not read. */
const CLOSE = { connection: "close" };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Readers of abandoned bodies: Deno would read the rest of one that is released before the response is sent. */
export const abandonedBodies = new WeakMap<Request, ReadableStreamDefaultReader>();

export class BodyReader {
  readonly #runtime: Runtime;
  /** Rejects each body that is arriving. An `AbortSignal` would search all listeners to remove one. */
  readonly #arriving = new Set<(reason: HttpError) => void>();
  #isCancelled = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Rejects bodies that are still arriving, and every later body, with `shutting_down`. */
  cancel(): void {
    this.#isCancelled = true;
    for (const reject of this.#arriving) reject(shuttingDownError());
  }

  /** Resolves to the text of a JSON body. Rejects with {@linkcode HttpError}. */
  async readJson(request: Request): Promise<string> {
    expectJson(request);
    const bytes = await this.#read(request);
    try {
      return decoder.decode(bytes);
    } catch {
      throw new HttpError("malformed_body", "The body is not valid UTF-8");
    }
  }

  /** Reads a body that is not used, within the same limits. */
  async skip(request: Request): Promise<void> {
    if (request.body !== null) await this.#read(request);
  }

  async #read(request: Request): Promise<Uint8Array> {
    const { headers } = request;
    const declared = headers.get("content-length");
    if (declared !== null && !DIGITS.test(declared)) {
      throw new HttpError("malformed_request", "Content-Length must be one whole number");
    }
    if (Number(declared) > BODY_LIMIT_BYTES) throw bodyTooLargeError();
    // The server enforces a declared length, so the chunks need no check.
    const isDeclared = declared !== null && headers.get("transfer-encoding") === null;
    return await (isDeclared ? this.#withinTime(request.bytes()) : this.#readChunks(request));
  }

  async #readChunks(request: Request): Promise<Uint8Array> {
    const reader = request.body?.getReader();
    if (reader === undefined) return new Uint8Array();
    try {
      return await this.#withinTime(readAll(reader));
    } catch (error) {
      abandonedBodies.set(request, reader);
      throw error;
    }
  }

  async #withinTime<T>(reading: Promise<T>): Promise<T> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    this.#arriving.add(reject);
    if (this.#isCancelled) reject(shuttingDownError());
    const stopTimer = this.#runtime.setTimer(BODY_LIMIT_MS, () => {
      const message = `The body did not arrive within ${BODY_LIMIT_MS} ms`;
      reject(new HttpError("request_timeout", message, CLOSE));
    });
    try {
      return await Promise.race([reading, givenUp]);
    } catch (error) {
      // If the body cannot be read to its end, the client broke it off, whatever error the server reports.
      if (error instanceof HttpError) throw error;
      throw new HttpError("malformed_body", "The body broke off", CLOSE);
    } finally {
      stopTimer();
      this.#arriving.delete(reject);
    }
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

/** Throws if the body is empty, encoded, or not declared as JSON in UTF-8 for the method. */
function expectJson(request: Request): void {
  const { headers, method } = request;
  const isPatch = method === "PATCH";
  const types = isPatch ? PATCH_TYPES : JSON_TYPES;
  const mediaTypeError = (message: string, more = {}) =>
    new HttpError("unsupported_media_type", message, { ...(isPatch && ACCEPT_PATCH), ...more });
  const type = headers.get("content-type");
  if (type === null) {
    if (headers.get("content-length") === "0" || request.body === null) {
      throw new HttpError("malformed_body", "The body is empty: send one JSON object");
    }
    const send = `send one JSON object as ${types.join(" or ")}`;
    throw mediaTypeError(`The Content-Type header is missing: ${send}`);
  }
  const [name, ...parameters] = type.toLowerCase().split(";").map((part) => part.trim());
  const isUtf8 = parameters.every((parameter) => /^$|^charset="?utf-8"?$/.test(parameter));
  if (!types.includes(name) || !isUtf8) {
    throw mediaTypeError(`The Content-Type must be ${types.join(" or ")}, in UTF-8`);
  }
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw mediaTypeError("The body must not be encoded", { "accept-encoding": "identity" });
  }
}

/** Whether a request has no body, or declares one within {@linkcode BODY_LIMIT_BYTES}. */
export function isBodyBounded(headers: Headers): boolean {
  if (headers.get("transfer-encoding") !== null) return false;
  const declared = headers.get("content-length");
  return declared === null || DIGITS.test(declared) && Number(declared) <= BODY_LIMIT_BYTES;
}

export function bodyTooLargeError(): HttpError {
  const message = `The body is larger than ${BODY_LIMIT_BYTES} bytes`;
  return new HttpError("body_too_large", message, CLOSE);
}

function shuttingDownError(): HttpError {
  return new HttpError("shutting_down", "The service is shutting down", CLOSE);
}
