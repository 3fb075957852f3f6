const CHUNK_BYTES = 64 * 1024;

/**
 * Streams bytes that responses share. It enqueues a chunk only if the client has room for it, so a client
 * that does not read occupies only a few chunks. `new Response(bytes)` would copy all bytes at once.
 */
export function byteStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(offset, offset + CHUNK_BYTES));
      offset += CHUNK_BYTES;
      if (offset >= bytes.length) controller.close();
    },
  }, { highWaterMark: 0 });
}
