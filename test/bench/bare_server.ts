/**
 * The measure of all things: answers the bytes that the service answers, with no work at all.
 * Takes that answer as JSON for its one argument, and reports its port.
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
}, () => new Response(body, { status, headers }));
