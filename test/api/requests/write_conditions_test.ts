import { assertEquals } from "@std/assert";
import {
  ENTITY_TAGS_PATTERN,
  parseEntityTags,
} from "../../../src/api/requests/write_conditions.ts";

Deno.test("parseEntityTags() takes linear time", () => {
  // In quadratic time, each would take minutes.
  const fields = [" ", ",", '"', '"a",', '"a" ', "W/"].map((it) => '"a"' + it.repeat(1_000_000));
  for (const end of ['"b"', "b", ""]) {
    for (const field of fields) ENTITY_TAGS_PATTERN.test(field + end);
  }
  const isNamed = parseEntityTags(`${'"a",'.repeat(1_000_000)}"b"`, "If-Match");
  assertEquals(isNamed('"b"'), true);
});
