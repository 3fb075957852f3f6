import { assertEquals } from "@std/assert";
import {
  ENTITY_TAGS_PATTERN,
  parseEntityTags,
} from "../../../src/api/requests/write_conditions.ts";

/** Well-formed headers, and whether each names the tag `"a,b"`. Malformed ones are in `errors_test`. */
const FIELDS: [field: string, isNamed: boolean][] = [
  ['"a,b"', true],
  ["*", true],
  ['"c", "a,b"', true],
  ['"c","a,b",W/"d"', true],
  [', ,\t"c" ,, "a,b"\t,', true],
  ['W/"a,b"', true],
  ['"a,b-gzip"', true],
  ['W/"a,b-br", "c"', true],
  ['"c", W/"a,b"', true],
  ['"a,b-gzip-gzip"', false],
  ['W/"a"', false],
  ['"a"', false],
  ['"*"', false],
  ['"xW/", "y"', false],
  ['"é"', false],
];

const matches = (field: string, tag: string) => parseEntityTags(field, "If-Match")(tag);

Deno.test("parseEntityTags() compares with each tag of the header, also if a proxy has made it weak or added a coding", () => {
  for (const [field, isNamed] of FIELDS) {
    assertEquals(matches(field, '"a,b"'), isNamed, field);
  }
});

Deno.test("parseEntityTags() takes linear time", () => {
  // In quadratic time, each would take minutes.
  const fields = [" ", ",", '"', '"a",', '"a" ', "W/"].map((it) => '"a"' + it.repeat(1_000_000));
  for (const end of ['"b"', "b", ""]) {
    for (const field of fields) ENTITY_TAGS_PATTERN.test(field + end);
  }
  assertEquals(matches(`${'"a",'.repeat(1_000_000)}"b"`, '"b"'), true);
});
