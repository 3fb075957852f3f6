import { gunzipSync } from "node:zlib";
import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { compressed } from "../../src/api/compression.ts";
import { chunksOf } from "../../src/api/http_response.ts";

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

Deno.test("compressed() keeps a gzip that succeeded, and not one that failed", async () => {
  const headers = new Headers({ "accept-encoding": "gzip" });
  const response = { status: 200, body: "x".repeat(200_000), headers: {} };
  const holder: { cachedGzip?: Promise<Uint8Array> } = {};
  let isFailing = true;
  let turns = 0;
  const turn = () => {
    turns++;
    return isFailing ? Promise.reject(new Error("no memory")) : Promise.resolve();
  };
  const compress = async () => await compressed(response, headers, turn, holder);
  await Promise.all([1, 2].map(() => assertRejects(compress, Error, "no memory")));
  assertEquals([turns, holder.cachedGzip], [1, undefined]);
  isFailing = false;
  for (let requests = 0; requests < 2; requests++) {
    const { body } = await compress();
    assertEquals(gunzipSync(body as Uint8Array).length, 200_000);
  }
  const parts = [...chunksOf(response.body)].length;
  assertEquals(turns, 1 + parts);
});
