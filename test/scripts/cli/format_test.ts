import { assertEquals } from "@std/assert";
import { formatCounted } from "../../../scripts/cli/format.ts";

Deno.test("formatCounted() names one thing in the singular, and any other number in the plural", () => {
  const shown = [0, 1, 2, 12_345].map((number) => formatCounted(number, "new event"));
  assertEquals(shown, ["0 new events", "1 new event", "2 new events", "12,345 new events"]);
});
