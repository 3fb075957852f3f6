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

const fails = () => Promise.reject(new Error("secret words"));
const isOther: Faults["onGet"] = (_, key) =>
  Promise.resolve({ key, value: "theirs", versionstamp: "1" });

/** The responses of the probes on a store with that fault. */
const PROBES: [subject: string, Partial<Faults>, isDurable: boolean, body: object][] = [
  ["/healthz returns 200, also if the store fails", { onGet: fails }, false, { status: "alive" }],
  ["/readyz returns 200 if a durable store responds", {}, true, { status: "ready" }],
  [
    "/readyz returns 503 if the store is in memory",
    {},
    false,
    notReady("The store is in memory and is lost when the process ends"),
  ],
  [
    "/readyz returns 503 if the store fails",
    { onGet: fails },
    true,
    notReady("The store failed to read"),
  ],
  [
    "/readyz returns 503 if the store is not ours",
    { onGet: isOther },
    true,
    notReady("The head record is not one of Animal Store"),
  ],
];

for (const [subject, faults, isDurable, body] of PROBES) {
  Deno.test(`GET ${subject}, without a key`, async () => {
    const service = serviceOn(faults, isDurable);
    const response = await service.ask(subject.split(" ")[0]);
    const { status, headers } = response;
    assertEquals(await response.json(), body);
    const isReady = !("code" in body);
    assertEquals([status, headers.get("retry-after")], isReady ? [200, null] : [503, "1"]);
    assertEquals(headers.get("content-type"), "application/json");
    assertEquals(headers.get("cache-control"), "no-store");
    assertEquals(service.reports, isReady ? [] : ["request_failed"]);
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

Deno.test("browsers are redirected to the reference and its icon, and other clients find nothing at the base path", async () => {
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
  for (const path of ["/v1", "/v1/"]) {
    for (const headers of [undefined, { accept: "application/json, */*" }]) {
      const response = await service.send(path, { headers });
      await assertError(response, { status: 404, code: "not_found" });
    }
  }
});
