import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { foldCase } from "../../src/encoding/fold_case.ts";
import { foldName } from "../../src/encoding/fold_name.ts";

/** Of no width, a soft hyphen, marks of direction, a filler, and a variation selector. */
const INVISIBLE =
  "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u061c\u202a\u202e\u2066\u2069\u034f\u3164\ufe0f";

Deno.test("foldName() makes names the same that differ in what nobody sees, in case or in form, and no others", () => {
  for (const character of INVISIBLE) {
    for (
      const name of [`${character}Zoë`, `ZO${character}Ë`, `zoe${character}\u0308${character}`]
    ) {
      assertEquals(foldName(name), foldName("Zoë"), JSON.stringify(name));
    }
  }
  for (const other of ["Zoe", "Zo ë", "Zoë ", "\u00a0Zoë", "Zoë\u0301", "Zoë\n"]) {
    assertNotEquals(foldName(other), foldName("Zoë"));
  }
});

Deno.test("foldName() folds each character of ASCII as foldCase() does", () => {
  const ascii = String.fromCharCode(...Array(128).keys());
  assertEquals(foldName(ascii), foldCase(ascii));
});

Deno.test("foldName() folds what it has folded to itself, and a part as it is in the name", () => {
  const name = `Ünïcode ${INVISIBLE} İı ß ﬁ ①`;
  assertEquals(foldName(foldName(name)), foldName(name));
  for (const part of name.split(" ")) assert(foldName(name).includes(foldName(part)), part);
});
