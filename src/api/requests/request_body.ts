import type { Runtime } from "eventstore-less";
import { BODY_LIMIT_BYTES, type ServiceRequest } from "../../runtime/service_request.ts";
import { HttpError } from "../errors.ts";

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

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
  async readJson(request: ServiceRequest): Promise<string> {
    expectJson(request);
    const bytes = await this.read(request);
    try {
      return decoder.decode(bytes);
    } catch {
      throw new HttpError("malformed_body", "The body is not valid UTF-8");
    }
  }

  /** Resolves to the body, which is empty if there is none. Rejects with {@linkcode HttpError}. */
  async read(request: ServiceRequest): Promise<Uint8Array> {
    const declared = request.headers.get("content-length");
    if (declared !== null && !DIGITS.test(declared)) {
      throw new HttpError("malformed_request", "Content-Length must be one whole number");
    }
    const body = await this.#withinTime(request.readBody());
    if (body === undefined) throw bodyTooLargeError();
    return body;
  }

  async #withinTime<T>(reading: Promise<T>): Promise<T> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    this.#arriving.add(reject);
    if (this.#isCancelled) reject(shuttingDownError());
    const stopTimer = this.#runtime.setTimer(BODY_LIMIT_MS, () => {
      const message = `The body did not arrive within ${BODY_LIMIT_MS} ms`;
      reject(new HttpError("request_timeout", message));
    });
    try {
      return await Promise.race([reading, givenUp]);
    } catch (error) {
      // If the body cannot be read to its end, the client broke it off, whatever error the server reports.
      if (error instanceof HttpError) throw error;
      throw new HttpError("malformed_body", "The body broke off");
    } finally {
      stopTimer();
      this.#arriving.delete(reject);
    }
  }
}

/** Throws if the body is empty, encoded, or not declared as JSON in UTF-8 for the method. */
function expectJson(request: ServiceRequest): void {
  const { headers, method } = request;
  const isPatch = method === "PATCH";
  const types = isPatch ? PATCH_TYPES : JSON_TYPES;
  const mediaTypeError = (message: string, more = {}) =>
    new HttpError("unsupported_media_type", message, { ...(isPatch && ACCEPT_PATCH), ...more });
  const type = headers.get("content-type");
  if (type === null) {
    if (headers.get("content-length") === "0" || !request.hasBody) {
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

export function bodyTooLargeError(): HttpError {
  const message = `The body is larger than ${BODY_LIMIT_BYTES} bytes`;
  return new HttpError("body_too_large", message);
}

function shuttingDownError(): HttpError {
  return new HttpError("shutting_down", "The service is shutting down");
}
