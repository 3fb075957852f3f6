import { assertEquals } from "@std/assert";
import { parseTimestamp } from "../../src/encoding/parse_timestamp.ts";

Deno.test("parseTimestamp() returns the same as Date.parse() for any date and time", () => {
  const days = ["0000-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "2026-11-21", "9999-12-31"];
  const times = ["00:00:00.000", "00:00:00.001", "09:08:07.065", "19:29:39.499", "23:59:59.999"];
  for (const day of days) {
    for (const time of times) {
      const text = `${day}T${time}Z`;
      assertEquals(parseTimestamp(text), Date.parse(text), text);
    }
  }
});
