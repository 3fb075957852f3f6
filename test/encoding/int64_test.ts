import { INT64_MAX, INT64_MIN, int64Of, parseExactJson } from "eventstore-less/int64";
import { assertEquals, assertThrows } from "@std/assert";

const NUMBERS: [sources: string[], value: bigint | undefined][] = [
  [["0", "-0", "0.000", "0e999999999", "-0.0e-999999999"], 0n],
  [["1", "1.0", "10e-1", "0.1e1", "1000e-3", `1${"0".repeat(60_000)}e-60000`], 1n],
  [["1e3", "1E+3"], 1_000n],
  [["9007199254740993"], 9_007_199_254_740_993n],
  [["1e18"], 10n ** 18n],
  [["9223372036854775807", "9223372036854775807.000"], INT64_MAX],
  [["9.223372036854775807e18", "92233720368547758070e-1"], INT64_MAX],
  [["-9223372036854775808"], INT64_MIN],
  [["0.1", "1.5", "-1.5", "1e-1", "15e-1", "1e-999999999"], undefined],
  [["9007199254740992.5", "9223372036854775806.5"], undefined],
  [["9223372036854775808", "-9223372036854775809", "123456789012345678901234567890"], undefined],
  // In quadratic time, this would take minutes.
  [[`1${"0".repeat(1_000_000)}1`], undefined],
  [["1e19", "1e999999999", "-1e999999999", "1e99999999999999999999999"], undefined],
];

Deno.test("int64Of() accepts every JSON notation of an integer, and no other number", () => {
  for (const [sources, value] of NUMBERS) {
    for (const source of sources) assertEquals(int64Of(source), value, source);
  }
});

Deno.test("parseExactJson() returns int64s as bigints, and other numbers unchanged", () => {
  assertEquals(parseExactJson('{"a":[1,1.5,9223372036854775807],"b":1e400,"c":"1","d":null}'), {
    a: [1n, 1.5, INT64_MAX],
    b: Infinity,
    c: "1",
    d: null,
  });
});

Deno.test("parseExactJson() gives each value, whatever other numbers the text has", () => {
  const numbers = NUMBERS.flatMap(([sources]) => sources);
  const lengths = Array.from({ length: 22 }, (_, length) => `${"9".repeat(length)}1`);
  const others = ['"1.5"', '"\\u0031e5"', "null", "true", '{"__proto__":1,"0":[-7]}', "[[]]", '""'];
  for (const text of [...numbers, ...lengths, ...lengths.map((it) => `-${it}`), ...others]) {
    const [value] = parseExactJson(`[${text}]`) as unknown[];
    assertEquals([value, 0.5], parseExactJson(`[${text},0.5]`), text.slice(0, 30));
  }
});

Deno.test("parseExactJson() throws on malformed text and on too deep nesting", () => {
  for (const text of ["", "{", "[1,]", "01", "1 2", "'a'", "undefined"]) {
    assertThrows(() => parseExactJson(text), SyntaxError);
  }
  assertThrows(() => parseExactJson("[".repeat(20_000) + "]".repeat(20_000)), RangeError);
});
