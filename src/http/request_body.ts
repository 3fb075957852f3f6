import type { Runtime } from "../runtime/runtime.ts";
import type { BodyCancellation } from "./body_cancellation.ts";
import { type ErrorCode, HttpError } from "./errors.ts";

/** Maximum length of a body, in bytes. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/**
 * Maximum time for a body to arrive, in milliseconds. The service then responds and reads no further request.
 * Deno's server leaves the socket open until the client or a proxy closes it.
 */
export const BODY_LIMIT_MS = 10_000;

export interface BodyLimits {
  runtime: Runtime;
  /** Rejects bodies that are still arriving, once the service shuts down. */
  bodyCancellation: BodyCancellation;
}

const DIGITS = /^[0-9]+$/;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Resolves to the text of a JSON body. Rejects with `unsupported_media_type`, `malformed_request`,
 * `body_too_large`, `request_timeout`, `shutting_down`, and, if the body is not UTF-8 or breaks off,
 * `malformed_body`.
 */
export async function readJsonBody(request: Request, limits: BodyLimits): Promise<string> {
  const { headers } = request;
  if (!isJson(headers.get("content-type"))) {
    throw new HttpError("unsupported_media_type", "The body must be declared as application/json");
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new HttpError("unsupported_media_type", "The body must not be encoded", {
      "accept-encoding": "identity",
    });
  }
  const declared = headers.get("content-length");
  if (declared !== null && !DIGITS.test(declared)) {
    throw new HttpError("malformed_request", "Content-Length must be one whole number");
  }
  if (Number(declared) > BODY_LIMIT_BYTES) throw tooLarge();
  // The server enforces a declared length, so the chunks need no check.
  const isDeclared = declared !== null && headers.get("transfer-encoding") === null;
  const bytes = isDeclared
    ? await withinTime(request.bytes(), limits)
    : await readChunks(request, limits);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new HttpError("malformed_body", "The body is not valid UTF-8");
  }
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

export function tooLarge(): HttpError {
  return new HttpError(
    "body_too_large",
    `The body is larger than ${BODY_LIMIT_BYTES} bytes`,
    { connection: "close" },
  );
}

async function readChunks(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  let isGivenUp = false;
  try {
    return await withinTime(readAll(reader, () => isGivenUp), limits);
  } catch (error) {
    isGivenUp = true;
    abandonedBodies.set(request, reader);
    throw error;
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  isGivenUp: () => boolean,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > BODY_LIMIT_BYTES || isGivenUp()) throw tooLarge();
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function withinTime<T>(reading: Promise<T>, { runtime, bodyCancellation }: BodyLimits): Promise<T> {
  return new Promise((resolve, reject) => {
    const refuse = (code: ErrorCode, message: string) =>
      reject(new HttpError(code, message, { connection: "close" }));
    const stopWaiting = bodyCancellation.wait(() =>
      refuse("shutting_down", "The service is shutting down")
    );
    const cancel = runtime.setTimer(
      BODY_LIMIT_MS,
      () => refuse("request_timeout", `The body did not arrive within ${BODY_LIMIT_MS} ms`),
    );
    const end = () => {
      cancel();
      stopWaiting();
    };
    reading.then((body) => {
      end();
      resolve(body);
    }, (error) => {
      end();
      // If the body cannot be read to its end, the client broke it off, whatever error the server reports.
      if (error instanceof HttpError) reject(error);
      else refuse("malformed_body", "The body broke off");
    });
  });
}

function isJson(contentType: string | null): boolean {
  if (contentType === "application/json") return true;
  if (contentType === null) return false;
  const [type, ...parameters] = contentType.toLowerCase().split(";").map((part) => part.trim());
  return type === "application/json" &&
    parameters.every((parameter) => /^$|^charset="?utf-8"?$/.test(parameter));
}
