import { assertEquals } from "@std/assert";
import { APPEND_LIMIT_MS } from "../../src/append/appender.ts";
import type { Store } from "../../src/store/store.ts";
import { openTestService } from "../support/test_service.ts";

Deno.test("an addition is answered within its limit, also where the clock is set back meanwhile", async () => {
  let isAway = false;
  const leaveable = (store: Store): Store => ({
    get: (key) => store.get(key),
    list: (range, options) => store.list(range, options),
    commit: (commit) =>
      isAway ? Promise.reject(new Error("The store is away")) : store.commit(commit),
    close: () => store.close(),
  });
  await using service = await openTestService(leaveable);
  const { head } = await service.heads.fresh();
  isAway = true;
  let status: number | undefined;
  service.add({ name: "Rex", categoryId: 1 }).then((answer) => status = answer.status);
  await service.runtime.advance(100);
  service.runtime.jumpClock(-3_600_000);
  await service.runtime.advance(APPEND_LIMIT_MS);
  assertEquals(status, 503);
  assertEquals((await service.heads.fresh()).head, head);
});
