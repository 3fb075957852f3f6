import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { foldCase } from "../../src/encoding/fold_case.ts";

/** Texts that are the same without regard to case and form. */
const SAME = [
  ["rex", "REX", "Rex", "ｒｅｘ", "ＲＥＸ"],
  ["Zoë", "ZOË", "Zoe\u0308", "zoë"],
  ["straße", "STRASSE", "Strasse", "STRAẞE"],
  ["ΟΔΟΣ", "οδος", "οδοσ", "Οδός".normalize("NFD").replace("\u0301", "")],
  ["ΐ", "Ϊ́", "\u0399\u0308\u0301", "ΐ"],
  ["ﬁdo", "FIDO", "fido"],
  ["ǰ", "J̌", "j\u030c"],
  ["ŉ", "ʼN", "ʼn"],
  ["Дружок", "ДРУЖОК", "дружок"],
  ["ꮳꮃꭹ", "ᏣᎳᎩ"],
  ["𐐨", "𐐀"],
  ["①", "1"],
  ["ｶﾞ", "ガ", "ガ"],
  ["ıI", "ii", "Iı"],
  ["Å", "å", "a\u030a", "\u212b"],
  ["İnci", "inci", "INCI", "İNCİ", "İnci".toLowerCase(), "İNCİ".normalize("NFD"), "ıNCI"],
  ["Ż", "ż", "z\u0307"],
];

Deno.test("foldCase() makes texts the same that differ in case or in the form of characters, and no others", () => {
  for (const texts of SAME) {
    const [folded] = texts.map(foldCase);
    for (const text of texts) assertEquals(foldCase(text), folded, text);
  }
  const folds = SAME.map(([text]) => foldCase(text));
  assertEquals(new Set(folds).size, SAME.length);
  for (const [one, other] of [["e", "é"], ["o", "ø"], ["ż", "z"], ["а", "a"], [" ", ""]]) {
    assertNotEquals(foldCase(one), foldCase(other));
  }
});

Deno.test("foldCase() folds a text as it folds its fold, and its parts as the text", () => {
  const texts = SAME.flat();
  for (const text of [...texts, texts.join(" "), texts.toReversed().join("-")]) {
    const folded = foldCase(text);
    assertEquals(foldCase(folded), folded);
    for (const part of text.split(/[ -]/)) assert(folded.includes(foldCase(part)), part);
  }
});
