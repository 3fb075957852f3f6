import { assertEquals } from "@std/assert";
import { createService } from "../../src/service.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import { newToken } from "../../src/projections/api_key.ts";
import { StoreDamagedError } from "../../src/store/store_errors.ts";
import { ModelStore } from "../sim/model_store.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";
import { type Faults, faultyStore } from "../support/faulty_store.ts";

/** Sends a request without a key to a service on a store with that fault. */
async function ask(
  path: string,
  { onGet = (apply) => apply(), isDurable = true, method = "GET" }: {
    onGet?: Faults["onGet"];
    isDurable?: boolean;
    method?: string;
  } = {},
) {
  const kv = await Deno.openKv(":memory:");
  const reports: string[] = [];
  const { handler } = createService({
    store: faultyStore(new KvStore(kv), { onGet }),
    runtime: new FakeRuntime(),
    report: (_level, event) => reports.push(event),
    isDurable,
  });
  const response = await handler(new Request(`http://localhost${path}`, { method }));
  const body = await response.json();
  const isEmpty = (await Array.fromAsync(kv.list({ prefix: [] }))).length === 0;
  kv.close();
  return { response, body, reports, isEmpty };
}

Deno.test("GET /healthz returns 200 without a key, also if the store fails", async () => {
  const onGet = () => Promise.reject(new Error("connection lost"));
  const { response, body } = await ask("/healthz", { onGet, isDurable: false });
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(body, { status: "alive" });
});

Deno.test("GET /readyz returns 200 without a key if a durable store responds", async () => {
  const { response, body, reports } = await ask("/readyz");
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(body, { status: "ready" });
  assertEquals(reports, []);
});

Deno.test("GET /readyz returns 503 with the reason if the store is in memory", async () => {
  const { response, body } = await ask("/readyz", { isDurable: false });
  assertEquals(response.status, 503);
  assertEquals(response.headers.get("retry-after"), "1");
  assertEquals(body, {
    code: "not_ready",
    message: "The store is in memory and is lost when the process ends",
    status: 503,
  });
});

Deno.test("GET /readyz returns 503 and logs it if the store fails or is not ours", async () => {
  const broken = await ask("/readyz", {
    onGet: () => Promise.reject(new Error("secret words")),
  });
  assertEquals(broken.response.status, 503);
  assertEquals(broken.body, {
    code: "not_ready",
    message: "The store failed to read",
    status: 503,
  });
  assertEquals(broken.reports, ["request_failed"]);
  const foreign = await ask("/readyz", {
    onGet: (_apply, key) => Promise.resolve({ key, value: "theirs", versionstamp: "1" }),
  });
  assertEquals(foreign.response.status, 503);
  assertEquals(foreign.body.code, "not_ready");
});

Deno.test("GET /readyz returns 503 after any read has met a damage of the store's file", async () => {
  const store = faultyStore(new ModelStore(), {
    onList: () => Promise.reject(new StoreDamagedError("database disk image is malformed")),
  });
  const runtime = new FakeRuntime();
  const { handler } = createService({ store, runtime, report: () => {}, isDurable: true });
  const ask = (path: string, headers = {}) =>
    handler(new Request(`http://localhost${path}`, { headers }));
  assertEquals((await ask("/readyz")).status, 200);
  const authorization = `Bearer ${newToken(runtime.randomBytes)}`;
  const message = "The store's file is damaged";
  for (
    const [path, code] of [["/v1/pets", "store_unavailable"], ["/readyz", "not_ready"]] as const
  ) {
    const response = await ask(path, { authorization });
    assertEquals(await response.json(), { code, message, status: 503 });
  }
});

for (const path of ["/healthz", "/readyz"]) {
  for (const method of ["POST", "PUT", "DELETE"]) {
    Deno.test(`${method} ${path} returns 405 with Allow, and writes nothing`, async () => {
      const { response, body, isEmpty } = await ask(path, { method });
      assertEquals(response.status, 405);
      assertEquals(response.headers.get("allow"), "GET, HEAD, OPTIONS");
      assertEquals(body.code, "method_not_allowed");
      assertEquals(isEmpty, true);
    });
  }

  Deno.test(`${path} supports HEAD and exists at no other path`, async () => {
    assertEquals((await ask(path, { method: "HEAD" })).response.status, 200);
    for (const other of [`${path}/`, `/v1${path}`, path.toUpperCase()]) {
      assertEquals((await ask(other)).response.status, 401);
    }
  });
}
