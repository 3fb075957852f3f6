/**
 * Receivers of webhooks under measurement, in a process of their own: those of odd numbers never answer. Prints its port,
 * and for each line on standard input the delays since the last one as JSON, in milliseconds.
 */

import { readLines } from "../support/service_process.ts";

let delays: number[] = [];

const server = Deno.serve(
  { port: 0, hostname: "127.0.0.1", onListen: ({ port }) => console.log(port) },
  async (request) => {
    const number = Number(new URL(request.url).pathname.slice(1));
    const { time } = await request.json();
    if (number % 2 === 1) return await new Promise<Response>(() => {});
    delays.push(Date.now() - Date.parse(time));
    return new Response(null, { status: 204 });
  },
);

await readLines(Deno.stdin.readable, () => {
  console.log(JSON.stringify(delays));
  delays = [];
});
await server.shutdown();
