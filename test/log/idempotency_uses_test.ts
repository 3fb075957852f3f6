import { assertEquals } from "@std/assert";
import { IDEMPOTENCY_LIFETIME_MS } from "../../src/log/idempotency_lifetime.ts";
import { IdempotencyUses, USES_KEPT } from "../../src/log/idempotency_uses.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";

/** A hash that differs from its neighbours like SHA-256, but is quicker to compute. Half of it is never read. */
function hashOf(number: number): string {
  let hash = "";
  for (let word = 1; word <= 4; word++) {
    hash += (Math.imul(number + word, 0x9e3779b1 * word) >>> 0).toString(16).padStart(8, "0");
  }
  return hash;
}

Deno.test("IdempotencyUses finds the last use of a key by the same actor", () => {
  const uses = new IdempotencyUses();
  const [one, other] = [sha256Hex("one"), sha256Hex("other")];
  assertEquals(uses.add(1, one, { position: 7, timeMs: 100 }), undefined);
  assertEquals(uses.add(2, one, { position: 8, timeMs: 101 }), undefined);
  assertEquals(uses.add(1, other, { position: 9, timeMs: 102 }), undefined);
  assertEquals(uses.add(1, one, { position: 10, timeMs: 50 }), { position: 7, timeMs: 100 });
  assertEquals(uses.add(1, one, { position: 11, timeMs: 60 }), { position: 10, timeMs: 50 });
});

Deno.test("IdempotencyUses distinguishes keys that differ in any of the first 128 bits", () => {
  const uses = new IdempotencyUses();
  const hash = sha256Hex("one");
  uses.add(1, hash, { position: 1, timeMs: 0 });
  for (let digit = 0; digit < 32; digit++) {
    const changed = hash[digit] === "0" ? "1" : "0";
    const other = hash.slice(0, digit) + changed + hash.slice(digit + 1);
    assertEquals(uses.add(1, other, { position: 2, timeMs: 0 }), undefined, `digit ${digit}`);
  }
  assertEquals(uses.add(1, hash, { position: 3, timeMs: 0 }), { position: 1, timeMs: 0 });
});

Deno.test("IdempotencyUses finds as many recent uses as its limit, and drops older ones", () => {
  const uses = new IdempotencyUses();
  const add = (number: number, position: number) =>
    uses.add(1, hashOf(number), { position, timeMs: 0 })?.position;
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
    uses.add(1, hashOf(number), { position: number, timeMs: number * stepMs });
    if (number <= aDay) continue;
    const again = { position: -number, timeMs: number * stepMs };
    assertEquals(uses.add(1, hashOf(number - aDay), again)?.position, number - aDay);
  }
});
