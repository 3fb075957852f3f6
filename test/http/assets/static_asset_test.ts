import { assert, assertEquals, assertLess, assertMatch, assertRejects } from "@std/assert";
import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { ENTITY_TAG_PATTERN } from "../../../src/http/conditional_read.ts";
import { StaticAsset } from "../../../src/http/assets/static_asset.ts";
import { permitted } from "../../support/permitted.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { openTestService } from "../../support/test_service.ts";
import { serveOnSocket } from "../../support/test_each_way.ts";

const LARGEST = "/docs/scalar.js";

const DECODERS: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

Deno.test({
  name: "every static asset is served in each encoding, with one tag per encoding (over a socket)",
  ignore: !permitted("net", "read"),
  async fn() {
    await using service = await openTestService();
    await using server = serveOnSocket(service);
    const send = (path: string, headers: Record<string, string>, method = "GET") =>
      exchange(server.port, { method, path, headers });
    const paths = ["/docs", "/openapi.json", "/docs/icon.svg", "/docs/reference.js", LARGEST];
    for (const path of paths) {
      const plain = await send(path, {});
      const tags = new Set<string>();
      for (const [encoding, decoder] of Object.entries(DECODERS)) {
        const accepting = { "accept-encoding": encoding };
        const { status, headers, body } = await send(path, accepting);
        const at = `${path}, ${encoding}`;
        assertEquals(status, 200, at);
        assertEquals(headers["content-encoding"] ?? "identity", encoding, at);
        assertEquals(headers["content-length"], String(body.length), at);
        assertEquals(headers.vary, "accept-encoding", at);
        assertEquals(headers["x-content-type-options"], "nosniff", at);
        assert(decode(decoder(body)) === decode(plain.body), at);
        if (encoding !== "identity") assertLess(body.length, plain.body.length, at);

        const tag = headers.etag!;
        assertMatch(tag, ENTITY_TAG_PATTERN);
        tags.add(tag);
        const head = await send(path, accepting, "HEAD");
        assertEquals([head.status, head.body.length], [200, 0], at);
        assertEquals(lastingHeaders(head), lastingHeaders({ headers }), at);

        const held = await send(path, { ...accepting, "if-none-match": `"other", ${tag}` });
        assertEquals([held.status, held.body.length], [304, 0], at);
        const { "content-type": _t, "content-encoding": _e, "content-length": _l, ...rest } =
          lastingHeaders({ headers });
        assertEquals(lastingHeaders(held), rest, at);
      }
      assertEquals(tags.size, 3, path);
      const [identityTag] = tags;
      const other = await send(path, { "accept-encoding": "br", "if-none-match": identityTag });
      assertEquals([other.status, other.headers["content-encoding"]], [200, "br"], path);
    }
  },
});

Deno.test("StaticAsset loads its content once, and again after a failure", async () => {
  let loads = 0;
  const asset = assetOf(() => {
    if (++loads === 1) return Promise.reject(new Error("Too many open files"));
    return Promise.resolve(new TextEncoder().encode("a".repeat(1_000)));
  });
  const get = (encoding: string) => asset.respond(new Headers({ "accept-encoding": encoding }));
  assertEquals(loads, 0);
  await assertRejects(() => get("br"), Error, "Too many open files");
  const all = await Promise.all(["br", "gzip", "br", "identity", "gzip"].map(get));
  const again = await get("br");
  assertEquals(loads, 2);
  const bodies = new Set([...all, again].map(({ body }) => body));
  assertEquals(bodies.size, 3, "responses share their bytes");
});

Deno.test("StaticAsset sends br if the client accepts it, then gzip, then the content as it is", async () => {
  const asset = assetOf(() => Promise.resolve(new TextEncoder().encode("a".repeat(1_000))));
  const cases: [field: string | null, encoding: string | undefined][] = [
    [null, undefined],
    ["", undefined],
    ["identity", undefined],
    ["deflate, zstd", undefined],
    ["gzip, deflate", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["GZip , BR", "br"],
    ["br;q=0, gzip", "gzip"],
    ["br;q=0.000, gzip;q=0.0", undefined],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["identity;q=0, gzip", "gzip"],
    ["*;q=0", undefined],
  ];
  for (const [field, encoding] of cases) {
    const headers = new Headers(field === null ? {} : { "accept-encoding": field });
    const { contentHeaders } = await asset.respond(headers);
    assertEquals([field, contentHeaders?.["content-encoding"]], [field, encoding]);
  }
});

Deno.test("StaticAsset does not compress content that would not shrink", async () => {
  const asset = assetOf(() => Promise.resolve(new TextEncoder().encode("{}")));
  const plain = await asset.respond(new Headers());
  for (const encoding of ["br", "gzip"]) {
    const response = await asset.respond(new Headers({ "accept-encoding": encoding }));
    assertEquals(response, plain);
    assertEquals(response.contentHeaders, { "content-type": "text/plain", "content-length": "2" });
  }
});

const READERS = 100;

Deno.test({
  name: `${READERS} clients that do not read the largest asset use little memory of the process`,
  ignore: !permitted("env", "net", "read", "run", "write") || Deno.build.os !== "linux",
  async fn() {
    await using temp = await TempStore.make();
    await using service = await ServiceProcess.start(temp.kvPath);
    const port = Number(new URL(service.address).port);
    const { body } = await exchange(port, { path: LARGEST });
    assertLess(1024 ** 2, body.length);

    const before = await residentMiB(service.pid);
    const head = new TextEncoder().encode(
      `GET ${LARGEST} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    );
    const clients = [];
    try {
      for (let count = 0; count < READERS; count++) {
        const client = await Deno.connect({ hostname: "127.0.0.1", port });
        clients.push(client);
        await client.write(head);
      }
      // Wait until every response has begun.
      for (const client of clients) assertEquals(await client.read(new Uint8Array(1)), 1);
      const grownMiB = await residentMiB(service.pid) - before;
      assertLess(grownMiB, 48, "a copy for each client takes 165 MiB or more");
    } finally {
      for (const client of clients) client.close();
    }
  },
});

function assetOf(load: () => Promise<Uint8Array>): StaticAsset {
  return new StaticAsset({ type: "text/plain", load });
}

type HeaderFields = Record<string, string | undefined>;

/** Sends a request and leaves the response body encoded, unlike `fetch`. */
function exchange(
  port: number,
  init: { path: string; method?: string; headers?: Record<string, string> },
): Promise<{ status: number; headers: HeaderFields; body: Uint8Array }> {
  const { promise, resolve, reject } = Promise.withResolvers<
    Awaited<ReturnType<typeof exchange>>
  >();
  request({ host: "127.0.0.1", port, agent: false, ...init }, (response) => {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    response.on("data", (chunk) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", async () =>
      resolve({
        status: response.statusCode!,
        headers: response.headers as HeaderFields,
        body: await new Blob(chunks).bytes(),
      }));
  }).on("error", reject).end();
  return promise;
}

/** Headers that are equal in all responses. */
function lastingHeaders({ headers }: { headers: HeaderFields }): HeaderFields {
  const { date: _date, "x-request-id": _id, connection: _connection, ...lasting } = headers;
  return lasting;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

async function residentMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024;
}
