/**
 * Keeps a service busy for `disturbance.ts`, in a process of its own, until it is killed:
 *
 *     deno run --allow-net test/bench/disturb.ts PORT TOKEN LAST_PET PAGES plain|gzip cached|any FOLLOWERS
 */

import { LARGE_PETS } from "./large_pets.ts";

const [port, token, lastPet, pages, coding, choice, followers] = Deno.args;

/** Reads large pages on one connection, one after the other, and prints a line for each. */
async function readPages(): Promise<void> {
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const buffer = new Uint8Array(256 * 1024);
  for (;;) {
    const cursor = Number(lastPet) - 100 - Math.floor(Math.random() * (LARGE_PETS - 300));
    const path = `/v1/pets?limit=100${choice === "any" ? `&cursor=${cursor}` : ""}`;
    const head = `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n` +
      (coding === "gzip" ? "accept-encoding: gzip\r\n" : "");
    await socket.write(new TextEncoder().encode(`${head}\r\n`));
    await skipResponse(socket, buffer);
    console.log("page");
  }
}

const LAST_CHUNK = "\r\n0\r\n\r\n";
const ascii = new TextDecoder("latin1");

/** Reads a response to its end without a look at its body, so that this process needs little of the processor. */
async function skipResponse(socket: Deno.Conn, buffer: Uint8Array): Promise<void> {
  let received = 0;
  let wanted: number | undefined;
  let tail = "";
  for (;;) {
    const read = await socket.read(buffer);
    if (read === null) throw new Error("The connection was closed");
    const bytes = buffer.subarray(0, read);
    if (received === 0) wanted = lengthOf(bytes);
    received += read;
    // The end may come in two parts.
    tail = (tail + ascii.decode(bytes.subarray(-LAST_CHUNK.length))).slice(-LAST_CHUNK.length);
    const isLast = wanted === undefined ? tail === LAST_CHUNK : received >= wanted;
    if (isLast) return;
  }
}

/** Length of a response by its head; `undefined` if it comes in chunks. */
function lengthOf(bytes: Uint8Array): number | undefined {
  const text = ascii.decode(bytes.subarray(0, 2_048));
  if (!text.startsWith("HTTP/1.1 200 ")) throw new Error(text);
  const declared = /content-length: (\d+)/.exec(text);
  return declared === null ? undefined : text.indexOf("\r\n\r\n") + 4 + Number(declared[1]);
}

/** Reads all events as a stream, again and again, and prints how long each time took. */
async function follow(): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const list = await fetch(`http://127.0.0.1:${port}/v1/pets?limit=1`, { headers });
  await list.body?.cancel();
  const end = `id: ${list.headers.get("x-feed-position")}`;
  for (;;) {
    const start = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}/v1/events`, { headers });
    let tail = "";
    for await (const chunk of response.body!) {
      const text = tail + ascii.decode(chunk);
      if (text.includes(end)) break;
      tail = text.slice(-end.length);
    }
    console.log(performance.now() - start);
  }
}

await Promise.all([
  ...Array.from({ length: Number(pages) }, readPages),
  ...Array.from({ length: Number(followers) }, follow),
]);
