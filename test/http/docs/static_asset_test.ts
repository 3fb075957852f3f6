import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { ENTITY_TAG_PATTERN } from "../../../src/api/conditional_read.ts";
import { EXAMPLE_BASE } from "../../../src/api/base_path.ts";
import { describeInterface } from "../../../src/http/docs/openapi.ts";
import { staticAsset } from "../../../src/http/docs/static_asset.ts";
import { assertError } from "../../support/assert_error.ts";
import { openTestService } from "../../support/test_service.ts";

const LARGEST = "/docs/scalar.js";
const PATHS = ["/docs", "/openapi.json", "/docs/icon.svg", "/docs/reference.js", LARGEST];

/** The codings, each with its decoder and the limit of all that the reference loads. */
const CODINGS: [name: string, decode: (bytes: Uint8Array) => Uint8Array, limitBytes: number][] = [
  ["identity", (bytes) => bytes, Infinity],
  // Browsers use gzip only on plain HTTP to another machine.
  ["gzip", gunzipSync, 1_100_000],
  ["br", brotliDecompressSync, 1_000_000],
];

Deno.test("the files of the reference are served in each encoding without a key, and take at most 1 MB, or 1.1 in gzip", async () => {
  await using service = await openTestService();
  const get = (path: string, headers: HeadersInit, method = "GET") =>
    service.sendBare(path, { method, headers });
  for (const [coding, decode, limitBytes] of CODINGS) {
    let total = 0;
    for (const path of PATHS) {
      const at = `${path}, ${coding}`;
      const plain = await (await get(path, {})).bytes();
      const { status, headers, body } = await get(path, { "accept-encoding": coding });
      const bytes = await new Response(body).bytes();
      total += bytes.length;
      assertEquals([status, headers.get("content-encoding") ?? "identity"], [200, coding], at);
      assertEquals(headers.get("content-length"), String(bytes.length), at);
      assertEquals(headers.get("vary"), "accept-encoding", at);
      assertEquals(headers.get("cache-control"), "no-cache", at);
      assertEquals(headers.get("x-content-type-options"), "nosniff", at);
      assertEquals(decode(bytes).toHex() === plain.toHex(), true, at);
      if (coding !== "identity") assertLess(bytes.length, plain.length, at);

      const etag = headers.get("etag")!;
      assertMatch(etag, ENTITY_TAG_PATTERN);
      const head = await get(path, { "accept-encoding": coding }, "HEAD");
      assertEquals([head.status, head.headers.get("etag")], [200, etag], at);
      await head.body?.cancel();
      const names = `"other", ${etag}`;
      const held = await get(path, { "accept-encoding": coding, "if-none-match": names });
      assertEquals([held.status, await held.text(), held.headers.get("etag")], [304, "", etag], at);
      const other = coding === "br" ? "gzip" : "br";
      const changed = await get(path, { "accept-encoding": other, "if-none-match": etag });
      assertEquals([changed.status, changed.headers.get("content-encoding")], [200, other], at);
      await changed.body?.cancel();
    }
    assertLess(total, limitBytes, coding);
  }
  for (const host of ["shop.example:81", "localhost:8000", "localhost:8000"]) {
    const text = await (await get("/openapi.json", { host })).text();
    assertEquals(text, describeInterface().replaceAll(EXAMPLE_BASE, `http://${host}/v1`));
    assertEquals(text.includes("localhost"), host !== "shop.example:81");
    assertStringIncludes(text, `curl \\"http://${host}/v1/pets`);
  }
  await assertError(await get("/docs/x.js", {}), { status: 404, code: "not_found" });
});

Deno.test("the reference refers to files of this service only, and forbids scripts and requests elsewhere", async () => {
  for (const [publicUrl, host] of [[], ["https://shop.example/v1", " https://shop.example"]]) {
    await using service = await openTestService({ publicUrl });
    const page = await service.sendBare("/docs");
    const references = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)];
    assertEquals(
      new Set(["/docs", ...references.map(([, path]) => `/${path}`)]),
      new Set(PATHS),
    );
    assertEquals(page.headers.get("content-security-policy")!.split("; "), [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'unsafe-inline'",
      `connect-src 'self'${host ?? ""}`,
      "img-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
  }
});

Deno.test("staticAsset() loads an encoding once, and again after a failure", async () => {
  let loads = 0;
  const asset = staticAsset("text/plain", () => {
    if (++loads === 1) throw new Error("Too many open files");
    return "a".repeat(1_000);
  });
  const get = () => asset(new Headers({ "accept-encoding": "br" }));
  await assertRejects(get, Error, "Too many open files");
  const [one, other] = await Promise.all([get(), get()]);
  assert(one.body === other.body, "responses share their bytes");
  assertEquals(loads, 2);
});

Deno.test("staticAsset() sends br if the client accepts it, then gzip, then the content as it is", async () => {
  const asset = staticAsset("text/plain", () => "a".repeat(1_000));
  const cases: [field: string | null, encoding: string | undefined][] = [
    [null, undefined],
    ["identity, zstd", undefined],
    ["gzip, deflate", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0, *", "gzip"],
    ["br;q=0.000, gzip;q=0.0", undefined],
  ];
  for (const [field, encoding] of cases) {
    const headers = new Headers(field === null ? {} : { "accept-encoding": field });
    const { contentHeaders } = await asset(headers);
    assertEquals([field, contentHeaders?.["content-encoding"]], [field, encoding]);
  }
});
