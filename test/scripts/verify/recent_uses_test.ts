import { assertEquals } from "@std/assert";
import { RecentUses } from "../../../scripts/verify/recent_uses.ts";

Deno.test("RecentUses finds the last use of a name, and as many recent uses as its limit", () => {
  const limit = 100;
  const uses = new RecentUses<number>(limit);
  for (let name = 1; name <= 3 * limit; name++) {
    assertEquals(uses.add(`Use ${name}`, name), undefined);
  }
  for (let name = 2 * limit + 1; name <= 3 * limit; name++) {
    assertEquals(uses.add(`Use ${name}`, -name), name);
    assertEquals(uses.add(`Use ${name}`, 0), -name);
  }
  assertEquals(uses.add("Use 1", 0), undefined);
});
