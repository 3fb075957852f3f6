export interface HttpResponse {
  status: number;
  /** `null` if the status has no body. Bytes are shared between responses. */
  body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  headers: Record<string, string>;
  /** The headers of the body itself, omitted from 304; by default those of JSON. */
  contentHeaders?: Record<string, string>;
}

/** Headers of a response that may be outdated a moment later. */
export const NEVER_STORED = { "cache-control": "no-store" };

const CHUNK_BYTES = 64 * 1024;

/** Streams many bytes that responses share. `new Response(bytes)` would copy them for each client. */
export function byteStream(bytes: Uint8Array): BodyInit {
  return bytes.length <= CHUNK_BYTES ? bytes as BodyInit : ReadableStream.from(chunksOf(bytes));
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) {
    yield bytes.subarray(offset, offset + CHUNK_BYTES);
  }
}
