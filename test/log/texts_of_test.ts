import { assertEquals } from "@std/assert";
import { joinLines, unpackLines } from "../../src/encoding/pack_lines.ts";
import { LINE_LIMIT_BYTES, textsOf } from "../../src/log/lines.ts";

const encoder = new TextEncoder();

function packed(...lines: string[]): Uint8Array[] {
  return unpackLines(joinLines(lines.map((line) => encoder.encode(line))))!;
}

Deno.test("textsOf() returns the texts of ASCII lines, from one buffer and from several", () => {
  for (
    const [lines, texts] of [
      [[], []],
      [packed("a"), ["a"]],
      [packed("a", "bc", "d"), ["a", "bc", "d"]],
      [[...packed("a", "bc"), ...packed("d")], ["a", "bc", "d"]],
      [packed("a", "bc", "d", "ef").filter((_, index) => index !== 1), ["a", "d", "ef"]],
      [packed("a", "bc", "d").toReversed(), ["d", "bc", "a"]],
      [[...packed("a", "b"), ...packed("c").concat(packed("\u007f"))], ["a", "b", "c", "\u007f"]],
    ] as [Uint8Array[], string[]][]
  ) assertEquals(textsOf(lines), texts);
});

Deno.test("textsOf() leaves lines with other bytes, and lines that are too long, to be decoded alone", () => {
  const invalid = packed("a", "b");
  invalid[1][0] = 0xff;
  assertEquals(textsOf(invalid), [undefined, undefined]);
  for (const text of ["ü", "€", "😀", "\ufeff"]) {
    assertEquals(textsOf([...packed("a", text), ...packed("b")]), [undefined, undefined, "b"]);
  }
  const long = "x".repeat(LINE_LIMIT_BYTES + 1);
  assertEquals(textsOf(packed("a", long, "b")), ["a", undefined, "b"]);
});
