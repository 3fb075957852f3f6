/** How many animals each category has, as a client sees it, and whether the index always has these numbers. */

import { assertEquals } from "@std/assert";
import { StoreDamagedError } from "../../src/eventstore_less/store/store_errors.ts";
import { PetIndex } from "../../src/animals/pet_index.ts";
import { PET_LISTS } from "../../src/animals/pet_keys.ts";
import { largestCounts } from "../../src/categories/count_animals.ts";
import { hold } from "../support/faulty_store.ts";
import { assertError } from "../support/assert_error.ts";
import { clientOfHandler, openTestService, otherInstance } from "../support/test_service.ts";
import { createService } from "../../src/service.ts";
import { Random } from "../sim/random.ts";

const PATH = "/v1/categories/counts";

Deno.test("an instance counts what others have written", async () => {
  await using service = await openTestService();
  const other = otherInstance(service);
  const counts = async () => await (await service.runtime.settle(other.send(PATH))).json();
  await service.add({ name: "Rex", categoryId: 7 });
  assertEquals(await counts(), [{ id: 7, animals: 1 }]);
  await service.add({ name: "Mia", categoryId: 7 });
  await service.change(1, { categoryId: 8 });
  assertEquals(await counts(), [{ id: 7, animals: 1 }, { id: 8, animals: 1 }]);
});

Deno.test(
  "nothing is counted before the index is filled, nor from a damaged file",
  async () => {
    await using service = await openTestService();
    await service.add({ name: "Rex", categoryId: 7 });
    const { faults, runtime, store, token } = service;
    const { fault, reached, release } = hold();
    faults.onList = (apply, range) => range.prefix?.[2] === "pet" ? fault(apply) : apply();
    const instance = createService({ store, runtime, report: () => {} });
    const early = clientOfHandler(token, instance.handler).send(PATH);
    await reached;
    await runtime.advance(2_000);
    await assertError(await early, { status: 503, code: "store_unavailable" });
    release();
    service.noteDamage(new StoreDamagedError("The file is damaged"));
    await assertError(await service.send(PATH), {
      status: 503,
      code: "store_unavailable",
      message: /damaged/,
    });
  },
);

Deno.test("largestCounts() has the largest counts that there is room for, and of equal ones all or none", () => {
  const counts = new Map([[1n, 5], [2n, 3], [3n, 9], [4n, 3]]);
  const ids = (limit: number) => largestCounts(counts, limit).map(([id]) => id);
  assertEquals([4, 3, 2, 1].map(ids), [[1n, 2n, 3n, 4n], [1n, 3n], [1n, 3n], [3n]]);
});

Deno.test("after any changes, the index counts what it finds", () => {
  const random = new Random(1);
  const index = new PetIndex(0);
  const categories = [-1n, 0n, 7n, 8n, 2n ** 62n];
  for (let change = 0; change < 5_000; change++) {
    const list = random.chance(0.2) ? undefined : random.pick(PET_LISTS);
    index.set(random.integer(1, 3_000), list, random.pick(categories));
  }
  const all = { oldest: 1, newest: Infinity, limit: Infinity };
  const found = categories.map((categoryId) => index.find({ ...all, categoryId }).length);
  assertEquals(categories.map((categoryId) => index.counts.get(categoryId)), found);
  for (let id = 1; id <= 3_000; id++) index.set(id, undefined, 0n);
  assertEquals(index.counts, new Map());
});
