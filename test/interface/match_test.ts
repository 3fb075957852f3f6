import { assertEquals, assertThrows } from "@std/assert";
import { fill, matchJson, matchText } from "./match.ts";

const KNOWN = new Map([["base", "http://localhost/v1"]]);

/** A template, what came, and what is known then besides the base; `undefined` if they differ. */
type Case = [template: string, actual: string, found: Record<string, string> | undefined];

const TEXTS: Case[] = [
  ["a…", "abc", {}],
  ["a…", "b", undefined],
  ["{base}/pets/{rex}", "http://localhost/v1/pets/7", { rex: "7" }],
  ["{base}/pets/{rex}", "http://localhost/v2/pets/7", undefined],
  ["{a}-{a}", "7-7", { a: "7" }],
  ["{a}-{a}", "7-8", undefined],
  ["{a}-{b}", "7-7", undefined],
];

const VALUES: Case[] = [
  ['{"id":{rex},"name":"R…"}', '{"name":"Rex","id":9007199254740993}', { rex: "9007199254740993" }],
  ["[1.0]", "[1]", undefined],
  ['{"a":1}', '{"a":1,"b":2}', undefined],
  ['{"a":1,…}', '{"a":1,"b":2}', {}],
  ['{"a":1,"b":…}', '{"a":1}', undefined],
  ["[]", "[]", {}],
  ["[1,2]", "[1,2]", {}],
  ["[1,2]", "[1]", undefined],
  ["[1,2]", "[1,2,3]", undefined],
  ["[…]", "[]", {}],
  ["[1,…]", "[1,2]", {}],
  ["[1,…]", "[]", undefined],
  ["[{…},…]", "[]", undefined],
  ["[…,2]", "[1,2]", {}],
  ["[…,1]", "[1,2]", undefined],
  ["[…,2,…]", "[1,2,3]", {}],
  ["[…,2,1,…]", "[1,2,3]", undefined],
  ['[…,{"id":{a},"n":2},…]', '[{"id":7,"n":1},{"id":8,"n":2}]', { a: "8" }],
  ["[≤1 {…}]", "[{}]", {}],
  ["[≤1 {…}]", "[{},{}]", undefined],
  ["[≤2 {…}]", "[{},1]", undefined],
  ['"…"', "7", undefined],
  ["7", '"7"', undefined],
  ["7", "no JSON", undefined],
];

for (const [match, cases] of [[matchText, TEXTS], [matchJson, VALUES]] as const) {
  Deno.test(`${match.name}() finds what a template says, and what its names are`, () => {
    for (const [template, actual, expected] of cases) {
      const found = match(template, actual, KNOWN);
      const learned = found && Object.fromEntries([...found].slice(KNOWN.size));
      assertEquals(learned, expected, `${template} ${actual}`);
    }
  });
}

Deno.test("a template that no response can be like is a mistake in a story", () => {
  for (const template of ["{", "[1", "[1 2]", '{"a"}', "secret", "[] []"]) {
    assertThrows(() => matchJson(template, "{}", KNOWN), Error, template);
  }
  assertThrows(() => fill("{rex}", KNOWN), Error, "{rex}");
});
