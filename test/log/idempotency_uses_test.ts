import { assertEquals } from "@std/assert";
import { IDEMPOTENCY_LIFETIME_MS } from "../../src/keyspace.ts";
import { IdempotencyUses, USES_KEPT } from "../../src/log/idempotency_uses.ts";

Deno.test("IdempotencyUses finds the last use of a key by the same actor", () => {
  const uses = new IdempotencyUses();
  const [one, other] = ["hash of one", "hash of another"];
  assertEquals(uses.add("A", one, { position: 7, timeMs: 100 }), undefined);
  assertEquals(uses.add("B", one, { position: 8, timeMs: 101 }), undefined);
  assertEquals(uses.add("A", other, { position: 9, timeMs: 102 }), undefined);
  assertEquals(uses.add("A", one, { position: 10, timeMs: 50 }), { position: 7, timeMs: 100 });
  assertEquals(uses.add("A", one, { position: 11, timeMs: 60 }), { position: 10, timeMs: 50 });
});

Deno.test("IdempotencyUses finds as many recent uses as its limit, and drops older ones", () => {
  const uses = new IdempotencyUses();
  const add = (number: number, position: number) =>
    uses.add("A", String(number), { position, timeMs: 0 })?.position;
  let found = 0;
  for (let number = 1; number <= 3 * USES_KEPT; number++) {
    if (add(number, number) !== undefined) found++;
  }
  assertEquals(found, 0, "all are different");
  const oldest = 2 * USES_KEPT + 1;
  for (let number = oldest; number <= 3 * USES_KEPT; number += 1_001) {
    assertEquals(add(number, 0), number);
  }
  assertEquals(add(USES_KEPT - 1, 0), undefined);
});

Deno.test("IdempotencyUses finds a use of a day ago at any time of day", () => {
  const uses = new IdempotencyUses();
  const stepMs = 600_000;
  const aDay = IDEMPOTENCY_LIFETIME_MS / stepMs;
  for (let number = 1; number < 5 * aDay; number++) {
    uses.add("A", String(number), { position: number, timeMs: number * stepMs });
    if (number <= aDay) continue;
    const again = { position: -number, timeMs: number * stepMs };
    assertEquals(uses.add("A", String(number - aDay), again)?.position, number - aDay);
  }
});
