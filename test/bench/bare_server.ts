/**
 * The reference for the service: returns the same bytes without any work, or only opens streams. Takes the response as
 * JSON in its only argument, and prints its port.
 */

const { status, headers, body, isStream } = JSON.parse(Deno.args[0]);

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.error(JSON.stringify({ event: "listening", port })),
}, () => new Response(isStream ? idleStream() : body || null, { status, headers }));

function idleStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(1)),
    pull: () => new Promise(() => {}),
  }, { highWaterMark: 0 });
}
