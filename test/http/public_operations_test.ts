import { assertEquals } from "@std/assert";
import { newToken } from "../../src/projections/api_key.ts";
import { createService } from "../../src/service.ts";
import { StoreDamagedError } from "../../src/store/store_errors.ts";
import { ModelStore } from "../sim/model_store.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";
import { type Faults, faultyStore } from "../support/faulty_store.ts";
import { assertError } from "../support/test_each_way.ts";
import { openTestService } from "../support/test_service.ts";

/** A service on a store with that fault. The result sends a request, by default without a key. */
function serviceOn(faults: Partial<Faults>, isDurable = true) {
  const reports: string[] = [];
  const store = faultyStore(new ModelStore(), faults);
  const runtime = new FakeRuntime();
  const report = (_level: string, event: string) => reports.push(event);
  const { handler } = createService({ store, runtime, report, isDurable });
  const ask = (path: string, init?: RequestInit) =>
    handler(new Request(`http://localhost${path}`, init));
  return { ask, reports, runtime, store };
}

/** The responses of the probes on a store with that fault. */
const PROBES: [subject: string, path: string, Partial<Faults>, isDurable: boolean, {
  status: number;
  body: object;
  reports?: string[];
}][] = [
  [
    "GET /healthz returns 200, also if the store fails",
    "/healthz",
    {
      onGet: () => Promise.reject(new Error("connection lost")),
    },
    false,
    { status: 200, body: { status: "alive" } },
  ],
  ["GET /readyz returns 200 if a durable store responds", "/readyz", {}, true, {
    status: 200,
    body: { status: "ready" },
  }],
  ["GET /readyz returns 503 if the store is in memory", "/readyz", {}, false, {
    status: 503,
    body: notReady("The store is in memory and is lost when the process ends"),
    reports: ["request_failed"],
  }],
  [
    "GET /readyz returns 503 and logs it if the store fails",
    "/readyz",
    {
      onGet: () => Promise.reject(new Error("secret words")),
    },
    true,
    { status: 503, body: notReady("The store failed to read"), reports: ["request_failed"] },
  ],
  [
    "GET /readyz returns 503 and logs it if the store is not ours",
    "/readyz",
    {
      onGet: (_apply, key) => Promise.resolve({ key, value: "theirs", versionstamp: "1" }),
    },
    true,
    {
      status: 503,
      body: notReady("The store does not belong to the service"),
      reports: ["request_failed"],
    },
  ],
];

for (const [subject, path, faults, isDurable, { status, body, reports = [] }] of PROBES) {
  Deno.test(`${subject}, without a key`, async () => {
    const service = serviceOn(faults, isDurable);
    const response = await service.ask(path);
    assertEquals([response.status, await response.json()], [status, body]);
    assertEquals(response.headers.get("content-type"), "application/json");
    assertEquals(response.headers.get("cache-control"), "no-store");
    assertEquals(response.headers.get("retry-after"), status === 503 ? "1" : null);
    assertEquals(service.reports, reports);
  });
}

function notReady(message: string) {
  return { code: "not_ready", message, status: 503 };
}

Deno.test("GET /readyz returns 503 after any read has met a damage of the store's file", async () => {
  const { ask, runtime } = serviceOn({
    onList: () => Promise.reject(new StoreDamagedError("database disk image is malformed")),
  });
  assertEquals((await ask("/readyz")).status, 200);
  const authorization = `Bearer ${newToken(runtime.randomBytes)}`;
  const message = "The store's file is damaged";
  const refused = await ask("/v1/pets", { headers: { authorization } });
  assertEquals(await refused.json(), { code: "store_unavailable", message, status: 503 });
  assertEquals(await (await ask("/readyz")).json(), notReady(message));
});

for (const path of ["/healthz", "/readyz"]) {
  Deno.test(`${path} supports only GET and HEAD, writes nothing, and exists at no other path`, async () => {
    const { ask, store } = serviceOn({});
    assertEquals((await ask(path, { method: "HEAD" })).status, 200);
    for (const method of ["POST", "PUT", "DELETE"]) {
      const refused = await ask(path, { method });
      await assertError(refused, { status: 405, code: "method_not_allowed" });
      assertEquals(refused.headers.get("allow"), "GET, HEAD, OPTIONS");
    }
    assertEquals(store.commits, []);
    for (const other of [`${path}/`, `/v1${path}`, path.toUpperCase()]) {
      assertEquals((await ask(other)).status, 401);
    }
  });
}

Deno.test("browsers are redirected to the reference from /, /docs/ and the base path, and to its icon", async () => {
  await using service = await openTestService();
  const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  for (
    const [path, location] of [
      ["/", "docs"],
      ["/docs/", "../docs"],
      ["/v1", "docs"],
      ["/v1/", "../docs"],
      ["/favicon.ico", "docs/icon.svg"],
    ]
  ) {
    const response = await service.sendBare(path, { headers: { accept } });
    assertEquals([path, response.status], [path, 302]);
    assertEquals(response.headers.get("location"), location);
  }
});

Deno.test("the base path is an unknown path for clients that do not ask for HTML", async () => {
  await using service = await openTestService();
  for (const path of ["/v1", "/v1/"]) {
    for (const headers of [undefined, { accept: "*/*" }, { accept: "application/json" }]) {
      const bare = { status: 401, code: "missing_credentials" };
      await assertError(await service.sendBare(path, { headers }), bare);
      await assertError(await service.send(path, { headers }), { status: 404, code: "not_found" });
    }
  }
});
