import { assertEquals } from "@std/assert";
import { parseIfMatch } from "../../../src/http/requests/if_match.ts";

/** Well-formed headers, and whether each names the tag `"a,b"`. Malformed ones are in `errors_test`. */
const FIELDS: [field: string, isNamed: boolean][] = [
  ['"a,b"', true],
  ["*", true],
  ['"c", "a,b"', true],
  ['"c","a,b",W/"d"', true],
  [', ,\t"c" ,, "a,b"\t,', true],
  ['"", "a,b"', true],
  ['W/"c", "a,b"', true],
  ['W/"a,b"', false],
  ['"a"', false],
  ['"a", "b"', false],
  ['"A,B"', false],
  ['"*"', false],
  ['"xW/", "y"', false],
  ['"é"', false],
];

Deno.test("parseIfMatch() compares strongly with each tag of the header", () => {
  for (const [field, isNamed] of FIELDS) {
    assertEquals(parseIfMatch(field)('"a,b"'), isNamed, field);
  }
});

Deno.test("parseIfMatch() takes linear time", () => {
  const length = 1_000_000;
  // In quadratic time, each would take minutes.
  for (const part of [" ", ",", '"', '"a",', '"a" ', "W/"]) {
    for (const end of ['"b"', "b", ""]) {
      try {
        parseIfMatch('"a"' + part.repeat(length) + end);
      } catch {
        // Whether the field is well-formed does not matter here.
      }
    }
  }
});
