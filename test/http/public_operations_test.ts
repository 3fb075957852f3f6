import { fetchFrom } from "../support/fetch_from.ts";
import { assertEquals } from "@std/assert";
import { createService } from "../../src/service.ts";
import { StoreDamagedError } from "../../src/eventstore_less/store/store_errors.ts";
import { ModelStore } from "../sim/model_store.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { type Faults, faultyStore } from "../support/faulty_store.ts";
import { assertError } from "../support/assert_error.ts";
import { openTestService } from "../support/test_service.ts";

const fails = () => Promise.reject(new Error("secret words"));
const isOther: Faults["onGet"] = (_, key) =>
  Promise.resolve({ key, value: "theirs", versionstamp: "1" });

const FOREIGN = "The head record is damaged, or not one of Animal Store";

/** The responses of the probes on a store with that fault: the status in the body, or the message of the error. */
const PROBES: [subject: string, faults: Partial<Faults>, isDurable: boolean, text: string][] = [
  ["/healthz returns 200, also if the store fails", { onGet: fails }, false, "alive"],
  ["/readyz returns 200 if a durable store responds", {}, true, "ready"],
  ["/readyz returns 503 if the store fails", { onGet: fails }, true, "The store failed to read"],
  ["/readyz returns 503 if the store is not ours", { onGet: isOther }, true, FOREIGN],
];

for (const [subject, faults, isDurable, text] of PROBES) {
  Deno.test(`GET ${subject}, without a key`, async () => {
    const store = faultyStore(new ModelStore(), faults);
    const runtime = new FakeRuntime();
    const { handler } = createService({ store, runtime, report: () => {}, isDurable });
    const response = await fetchFrom(handler)(
      new Request(`http://localhost${subject.split(" ")[0]}`),
    );
    const isReady = !subject.includes("503");
    const error = { code: "not_ready", message: text, status: 503 };
    assertEquals(await response.json(), isReady ? { status: text } : error);
    const { status, headers } = response;
    const shown = ["retry-after", "content-type", "cache-control"].map((it) => headers.get(it));
    const [expected, retryAfter] = isReady ? [200, null] : [503, "1"];
    assertEquals([status, ...shown], [expected, retryAfter, "application/json", "no-store"]);
  });
}

Deno.test("GET /readyz logs when the store cannot be read, and once when it can again", async () => {
  const runtime = new FakeRuntime();
  const events: string[] = [];
  const report = (_level: string, event: string) => void events.push(event);
  const store = faultyStore(new ModelStore());
  const fetch = fetchFrom(createService({ store, runtime, report, isDurable: true }).handler);
  for (const onGet of [store.onGet, fails, store.onGet, fails]) {
    store.onGet = onGet;
    await runtime.advance(60_000);
    for (let probe = 0; probe < 3; probe++) {
      const response = await runtime.settle(fetch(new Request("http://localhost/readyz")));
      assertEquals((await response.json()).status, onGet === fails ? 503 : "ready");
    }
  }
  assertEquals(events, ["not_ready", "not_ready", "ready", "not_ready"]);
});

Deno.test("GET /readyz returns 503 once any request has met a damage of the store's file", async () => {
  await using service = await openTestService({ isDurable: true });
  const { faults } = service;
  const { onList } = faults;
  faults.onList = () => Promise.reject(new StoreDamagedError("secret words"));
  const message = /^The store's file is damaged$/;
  const expected = { status: 503, code: "store_unavailable", message };
  await service.add({ name: "Rex", categoryId: 1 });
  await assertError(await service.send("/v1/pets"), expected);
  faults.onList = onList;
  await assertError(await service.send("/v1/pets"), expected);
  await assertError(await service.sendBare("/readyz"), { ...expected, code: "not_ready" });
});
