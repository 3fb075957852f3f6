import { gunzipSync } from "node:zlib";
import { assertEquals, assertGreater } from "@std/assert";
import { compressed } from "../../src/api/compression.ts";

Deno.test("compressed() takes a turn for each part of a large body, and none for a smaller one", async () => {
  const headers = new Headers({ "accept-encoding": "gzip" });
  const large = "犬🐕".repeat(60_000);
  for (const body of [large, new TextEncoder().encode(large), "x".repeat(150_000)]) {
    let turns = 0;
    const turn = () => {
      turns++;
      return Promise.resolve();
    };
    const packed = await compressed({ status: 200, body, headers: {} }, headers, turn);
    const text = typeof body === "string" ? body : large;
    assertEquals(gunzipSync(packed.body as Uint8Array).toString(), text);
    if (body[0] === "x") assertEquals(turns, 0);
    else assertGreater(turns, 5);
  }
});
