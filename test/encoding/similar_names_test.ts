import { assertEquals } from "@std/assert";
import { changesBetween, SimilarNames } from "../../src/encoding/similar_names.ts";

function similarTo(search: string, names: readonly string[], limit = 5): string[] {
  const similar = new SimilarNames(search, limit);
  for (const name of names) similar.add(name);
  return similar.names;
}

Deno.test("changesBetween() counts letters that are added, left out, replaced or swapped with the next one", () => {
  const cases: [string, string, number][] = [
    ["", "", 0],
    ["REX", "REX", 0],
    ["REX", "REXE", 1],
    ["REX", "RX", 1],
    ["REX", "RAX", 1],
    ["REX", "RXE", 1],
    ["BELLO", "BLELO", 1],
    ["", "REX", 3],
    ["KITTEN", "SITTING", 3],
  ];
  for (const [one, other, changes] of cases) {
    assertEquals(changesBetween(one, other), changes, `${one} ${other}`);
    assertEquals(changesBetween(other, one), changes, `${other} ${one}`);
  }
});

Deno.test("the most similar names come first, each once, and no more than the limit", () => {
  const names = ["Bellini", "Bella", "Bello", "Max", "Bello", "Belo"];
  assertEquals(similarTo("bello", names), ["Bello", "Bella", "Belo"]);
  assertEquals(similarTo("bello", names, 2), ["Bello", "Bella"]);
  assertEquals(similarTo("bello", [], 2), []);
});

Deno.test("a name is similar if it has one of the words, and the more of them the better", () => {
  const names = ["Zoë", "Smith, Zoë", "Smyth, Zoë", "Max"];
  assertEquals(similarTo("Zoë Smith Rhodes", names), ["Smith, Zoë", "Smyth, Zoë", "Zoë"]);
});

Deno.test("short words have no mistakes, and others at most two", () => {
  assertEquals(similarTo("xy", ["x", "xyz", "ay"]), ["xyz"]);
  assertEquals(similarTo("rex", ["Max", "Rax", "Rexi"]), ["Rexi", "Rax"]);
  assertEquals(similarTo("felix", ["Falix", "Faliy", "Maliy", "Felixxx"]), [
    "Felixxx",
    "Falix",
    "Faliy",
  ]);
});
