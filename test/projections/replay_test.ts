import { assertEquals, assertRejects } from "@std/assert";
import { audit } from "../../src/audit.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { readHead } from "../../src/log/head.ts";
import { UnsoundError } from "../../src/projections/compare.ts";
import { replay } from "../../src/projections/replay.ts";
import {
  logKey,
  petByStatusKey,
  petKey,
  projectionKey,
  REPLAY_KEY,
} from "../../src/store/layout.ts";
import { scan } from "../../src/store/scan.ts";
import type { Store } from "../../src/store/store.ts";
import { openSampleStore } from "../sample_store.ts";
import { openTestService } from "../test_service.ts";

const NO_GRACE = { graceMs: 0 };

Deno.test("replay() serves a new generation with the same records, and leaves nothing of the old one", async () => {
  using sample = await openSampleStore(60);
  const before = await recordsOf(sample.store, 1);
  const { generation, events, differences } = await replay(sample, NO_GRACE);
  assertEquals([generation, events, differences.total], [2, 60, 0]);
  assertEquals(await recordsOf(sample.store, 2), before);
  assertEquals(await recordsOf(sample.store, 1), []);
  assertEquals((await readHead(sample.store)).head, { ...sample.head, generation: 2 });
  assertEquals(await sample.store.get(REPLAY_KEY), null);
  assertEquals((await audit(sample)).sound, true);
});

Deno.test("replay() tells how the old generation differed, and puts it right", async () => {
  using sample = await openSampleStore(60);
  const [missing, altered, extra] = [petKey(3), petKey(5), petByStatusKey("sold", 7_000)]
    .map((key) => projectionKey(1, key));
  await sample.store.commit({
    checks: [],
    mutations: [
      { type: "delete", key: missing },
      { type: "set", key: altered, value: "{}" },
      { type: "set", key: extra, value: "{}" },
    ],
  });
  const { differences } = await replay(sample, NO_GRACE);
  assertEquals(differences.counts, { missing: 1, extra: 1, altered: 1 });
  assertEquals(differences.first.missing, { kind: "missing", key: missing, position: 4 });
  assertEquals(differences.first.altered, { kind: "altered", key: altered, position: 6 });
  assertEquals(differences.first.extra, { kind: "extra", key: extra });
  assertEquals((await audit(sample)).faults, []);
});

Deno.test("replay() of a log that is not sound serves the old generation on, and leaves nothing behind", async () => {
  using sample = await openSampleStore(60);
  const key = logKey(20);
  await sample.store.commit({ checks: [], mutations: [{ type: "delete", key }] });
  const before = await allOf(sample.store);
  await assertRejects(() => replay(sample, NO_GRACE), UnsoundError, "Line 21 of the log is not");
  assertEquals(await allOf(sample.store), before);
});

async function recordsOf(store: Store, generation: number) {
  const entries = await Array.fromAsync(scan(store, { prefix: projectionKey(generation, []) }));
  return entries.flat().map(({ key, value }) => [key.slice(2), value]);
}

async function allOf(store: Store) {
  const entries = await Array.fromAsync(scan(store, { prefix: [] }));
  return entries.flat().map(({ key, value }) => [key, value]);
}

Deno.test("A key holds on an instance that slept while a replay removed what it had read", async () => {
  await using service = await openTestService();
  assertEquals((await service.add({ name: "Rex", categoryId: 1 })).status, 201);
  // From here on the instance knows of a key event that it has not looked the key up after.
  await issueKey(service, { label: "another" });
  const { store, host } = service;
  await replay({ store, host }, NO_GRACE);
  assertEquals((await service.add({ name: "Mia", categoryId: 1 })).status, 201);
  assertEquals(await (await service.send("/v1/pets/2")).json(), {
    id: 2,
    name: "Mia",
    categoryId: 1,
  });
});
