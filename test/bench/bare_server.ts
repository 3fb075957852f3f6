/**
 * The reference for the service: returns the same bytes without any work. Takes the response as JSON in its only
 * argument, and prints its port.
 */

interface BareAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const { status, headers, body }: BareAnswer = JSON.parse(Deno.args[0]);

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.error(JSON.stringify({ event: "listening", port })),
}, () => new Response(body || null, { status, headers }));
