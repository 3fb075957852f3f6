import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { spy } from "@std/testing/mock";
import { HEAD_KEY } from "../../../../src/eventstore_less/keyspace.ts";
import { openKvConnectStore } from "../../../../src/eventstore_less/store/deno_kv/kv_connect_store.ts";
import type { Store } from "../../../../src/eventstore_less/store/store.ts";
import {
  mayHaveLanded,
  StoreAwayError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../../../src/eventstore_less/store/store_errors.ts";
import { freePort } from "../../../support/free_port.ts";
import { set } from "../../../support/store_contract.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";

const test = testNeeding(permissions("env", "net", "read"));

test("openKvConnectStore() rejects with StoreRefusedError if the server is another one", async () => {
  for (
    const [status, body] of [[200, "<html>\n</html>"], [200, "{}"], [404, "Not found\n"]] as const
  ) {
    await using other = serve(() => new Response(body, { status }));
    const { message } = await assertRejects(() => open(other.address), StoreRefusedError);
    assertMatch(message, /^it (is not a KV Connect server|answers with status 404: Not found)$/);
  }
});

test("openKvConnectStore() rejects with StoreAwayError if no server answers, and gives up", async () => {
  const nobody = `http://127.0.0.1:${freePort()}`;
  const { message } = await assertRejects(() => open(nobody), StoreAwayError);
  assertMatch(message, /^it does not answer: .*refused/);
  await using failing = serve(() => new Response("Starting", { status: 503 }));
  await assertRejects(() => open(failing.address), StoreAwayError);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const cutting = (async () => {
    using connection = await listener.accept();
    await readRequest(connection);
    await connection.write((await responseBytes(metadata())).slice(0, -1));
    listener.close();
  })();
  await assertRejects(() => open(addressOf(listener)), StoreAwayError, "its answer broke off");
  await cutting;
  await using hanging = serve(() => new Promise(() => {}));
  await assertRejects(() => open(hanging.address, AbortSignal.timeout(100)), StoreAwayError);
});

test("openKvConnectStore() that fails closes its HTTP client", async () => {
  using created = spy(Deno, "createHttpClient");
  await using server = serve(() => new Response("Starting", { status: 503 }));
  await assertRejects(() => open(server.address), StoreAwayError);
  const [{ returned: client }] = created.calls;
  assertThrows(() => client!.close(), Deno.errors.BadResource);
});

const COMMIT = {
  guard: { key: ["key"], versionstamp: null },
  mutations: [set(["key"], "")],
};

/** Answers to a commit, and the message of the error. Only the first shows that it did not land. */
const ANSWERS: [status: number, body: string, type: string, message: string][] = [
  [400, "No\nstack", "text/plain", "it answers with status 400: No"],
  [401, "No\nstack", "text/plain", "it answers with status 401: No"],
  [429, "No\nstack", "text/plain", "it answers with status 429: No"],
  [500, "No\nstack", "text/plain", "it answers with status 500: No"],
  [200, "<html>", "text/html", "it answers with text/html"],
  [200, "\x08\x05", "application/x-protobuf", "it answers with the outcome 0805"],
  [200, "\x08\x01", "application/x-protobuf", "it answers with the outcome 0801"],
];

test("KvConnectStore: a commit rejects, once, and its error says whether it may have landed", async () => {
  for (const [status, body, type, expected] of ANSWERS) {
    let commits = 0;
    await using server = serve(({ url }) => {
      if (!url.endsWith("/atomic_write")) return metadata();
      commits++;
      return new Response(body, { status, headers: { "content-type": type } });
    });
    const store = await open(server.address);
    const Kind = status === 400 ? StoreRefusedError : UnclearOutcomeError;
    const { message } = await assertRejects(() => store.commit(COMMIT), Kind);
    assertEquals([message, commits], [expected, 1]);
    store.close();
  }
});

test("KvConnectStore: a commit may have landed if its connection broke and the server is gone", async () => {
  // fetch() sends a request a second time if a connection that it used before breaks. The error is then that
  // of the second attempt, which finds nobody.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using connection = await listener.accept();
    await readRequest(connection);
    await connection.write(await responseBytes(metadata()));
    await readRequest(connection);
    listener.close();
  })();
  const store = await open(addressOf(listener));
  const failure = await assertRejects(() => store.commit(COMMIT), Error);
  assert(mayHaveLanded(failure), failure.message);
  await serving;
  store.close();
});

function metadata(): Response {
  return Response.json({
    version: 3,
    databaseId: crypto.randomUUID(),
    endpoints: [{ url: "/v2", consistency: "strong" }],
    token: "session",
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
}

function serve(handler: (request: Request) => Response | Promise<Response>) {
  const hanging = new AbortController();
  const options = { hostname: "127.0.0.1", port: 0, signal: hanging.signal, onListen() {} };
  const server = Deno.serve(options, handler);
  return {
    address: addressOf(server),
    [Symbol.asyncDispose]() {
      hanging.abort();
      return server.finished;
    },
  };
}

function open(address: string, signal = new AbortController().signal): Promise<Store> {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", "some-token");
  return openKvConnectStore(address, HEAD_KEY, signal);
}

function addressOf({ addr }: { addr: Deno.NetAddr }): string {
  return `http://127.0.0.1:${addr.port}`;
}

/** Reads a whole request. */
async function readRequest(connection: Deno.Conn): Promise<void> {
  const chunk = new Uint8Array(65_536);
  let text = "";
  for (;;) {
    text += new TextDecoder("latin1").decode(chunk.subarray(0, await connection.read(chunk) ?? 0));
    const bodyAt = text.indexOf("\r\n\r\n") + 4;
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
    if (bodyAt > 3 && text.length === bodyAt + length) return;
  }
}

async function responseBytes(response: Response): Promise<Uint8Array> {
  const body = await response.text();
  const headers = `content-type: application/json\r\ncontent-length: ${body.length}`;
  return new TextEncoder().encode(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`);
}
