import { assertEquals } from "@std/assert";
import { monotonicUlid } from "@std/ulid";
import { IDS_KEPT, RecentIds } from "../../src/log/recent_ids.ts";

Deno.test("RecentIds distinguishes ids that differ in any digit", () => {
  const ids = new RecentIds();
  const id = "01HZYXWVTSRQPNMKJGFEDCBA98";
  assertEquals(ids.isUsed(id), false);
  for (let digit = 0; digit < id.length; digit++) {
    const changed = id[digit] === "1" ? "2" : "1";
    assertEquals(ids.isUsed(id.slice(0, digit) + changed + id.slice(digit + 1)), false, `${digit}`);
  }
  assertEquals(
    ["00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"].map((
      one,
    ) => [ids.isUsed(one), ids.isUsed(one)]),
    [[false, true], [false, true]],
  );
  assertEquals(ids.isUsed(id), true);
});

Deno.test("RecentIds finds as many recent ids as its limit, and drops older ones", () => {
  const recent = new RecentIds();
  const ids = Array.from({ length: 3 * IDS_KEPT }, () => monotonicUlid());
  assertEquals(ids.filter((id) => recent.isUsed(id)), []);
  assertEquals(ids.slice(-IDS_KEPT).filter((id) => !recent.isUsed(id)), []);
  assertEquals(recent.isUsed(ids[0]), false);
});
