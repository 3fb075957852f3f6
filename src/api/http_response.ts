import { Buffer } from "node:buffer";
import type { ServiceResponse } from "../runtime/service_request.ts";

/** The response of an operation. Its body is `null` if the status has none. Bytes are shared between responses. */
export interface HttpResponse extends ServiceResponse {
  /** The headers of the body itself, omitted from 304; by default those of JSON. */
  contentHeaders?: Record<string, string>;
  /** The code of the error that the body describes. */
  code?: string;
}

/** The headers of a body that is JSON. */
export const JSON_HEADERS = { "content-type": "application/json" };

/** The headers of a body that is a batch of CloudEvents. */
export const EVENT_BATCH_HEADERS = { "content-type": "application/cloudevents-batch+json" };

/** Headers of a response that may be outdated a moment later. */
export const NEVER_STORED = { "cache-control": "no-store" };

/** Bytes of a chunk of a body, and UTF-16 code units of a chunk of a text. */
const CHUNK_BYTES = 64 * 1024;
const TEXT_CHUNK_LENGTH = 16 * 1024;

const encoder = new TextEncoder();

/** Length of a body in bytes. The length of a stream is not known when it begins. */
export function bodyLength(body: HttpResponse["body"]): number | undefined {
  if (body === null) return 0;
  if (body instanceof ReadableStream) return undefined;
  return typeof body === "string" ? Buffer.byteLength(body) : body.length;
}

/** Whether a body is sent in chunks. */
export function isLong(body: string | Uint8Array): boolean {
  return body.length > CHUNK_BYTES;
}

/** Streams a long body that responses share: a server would copy it for each client. */
export function sharedStream(body: string | Uint8Array): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunksOf(body));
}

/** Yields a body in chunks. A text is encoded chunk by chunk, so a slow client holds no copy of it. */
export function* chunksOf(body: string | Uint8Array): Generator<Uint8Array> {
  if (typeof body !== "string") {
    for (let start = 0; start < body.length; start += CHUNK_BYTES) {
      yield body.subarray(start, start + CHUNK_BYTES);
    }
    return;
  }
  for (let start = 0; start < body.length;) {
    const end = chunkEnd(body, start);
    yield encoder.encode(body.slice(start, end));
    start = end;
  }
}

/** A pair of surrogates is one character, so it must not be cut. */
function chunkEnd(text: string, start: number): number {
  const end = start + TEXT_CHUNK_LENGTH;
  const isPair = end < text.length && /[\ud800-\udbff]/.test(text[end - 1]);
  return isPair ? end - 1 : end;
}

/** Only the client may cache a read, and it revalidates each time: what it shows may change. */
export const READ_HEADERS = { "cache-control": "private, no-cache" };
