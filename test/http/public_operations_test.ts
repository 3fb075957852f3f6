import { assertEquals } from "@std/assert";
import { spy } from "@std/testing/mock";
import { createService } from "../../src/service.ts";
import { ModelStore } from "../sim/model_store.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";
import { type Faults, faultyStore } from "../support/faulty_store.ts";
import { assertError } from "../support/test_each_way.ts";
import { openTestService } from "../support/test_service.ts";

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
    const store = faultyStore(new ModelStore(), faults);
    const report = spy((_level: string, _event: string) => {});
    const { handler } = createService({ store, runtime: new FakeRuntime(), report, isDurable });
    const response = await handler(new Request(`http://localhost${subject.split(" ")[0]}`));
    const { status, headers } = response;
    assertEquals(await response.json(), body);
    const isReady = !("code" in body);
    assertEquals([status, headers.get("retry-after")], isReady ? [200, null] : [503, "1"]);
    assertEquals(headers.get("content-type"), "application/json");
    assertEquals(headers.get("cache-control"), "no-store");
    const events = report.calls.map(({ args: [, event] }) => event);
    assertEquals(events, isReady ? [] : ["request_failed"]);
  });
}

function notReady(message: string) {
  return { code: "not_ready", message, status: 503 };
}

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
