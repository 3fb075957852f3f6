/**
 * The reference for the service: returns the same bytes without any work. Takes the response as JSON in its only
 * argument, and prints its port.
 */

const { status, headers, body } = JSON.parse(Deno.args[0]);

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.error(JSON.stringify({ event: "listening", port })),
}, () => new Response(body || null, { status, headers }));
