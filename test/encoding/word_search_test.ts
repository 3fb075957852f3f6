import { assert, assertEquals } from "@std/assert";
import { hasWords, searchedText, wordsOf } from "../../src/encoding/word_search.ts";

/** Whether a search finds a text. */
const finds = (search: string, text: string) => hasWords(searchedText(text), wordsOf(search));

Deno.test("a search finds words in any order, without regard to case, accents and what nobody sees", () => {
  const found: [search: string, text: string][] = [
    ["zoe", "Zoë"],
    ["ZOË", "zoe"],
    ["zoe\u0308", "Zoë"],
    ["zo\u200be", "Z\u00adoë"],
    ["smith zoe", "Smith, Zoë"],
    ["Zoë Smith", "Smith, Zoë"],
    ["smith,zoe", "Zoë Smith"],
    ["  zoe\t,\n smith ", "Zoë Smith"],
    ["strasse", "Straße"],
    ["soren", "Søren"],
    ["aegir lodz", "Ægir aus Łódź"],
    ["istanbul", "İSTANBUL"],
    ["\u0438\u043e\u0433", "\u0419\u043e\u0433"],
    ["\uff32\uff25\uff38", "T. Rex"],
    ["zoe\u3000smith", "Smith, Zoë"],
    ["ga", "Nga"],
    ["", "Rex"],
    [", ", "Rex"],
  ];
  for (const [search, text] of found) assert(finds(search, text), `${search} in ${text}`);
});

Deno.test("a search does not find a text that lacks a word, or has only parts of it in two places", () => {
  const missed: [search: string, text: string][] = [
    ["zoe rex", "Zoë Smith"],
    ["zoesmith", "Zoë Smith"],
    ["trex", "T. Rex"],
    // Marks that are letters: these are ka and ga, and two syllables of Hindi.
    ["\u304b", "\u304c"],
    ["\u0915\u093f", "\u0915\u0940"],
    [".", "Rex"],
  ];
  for (const [search, text] of missed) assert(!finds(search, text), `${search} in ${text}`);
});

Deno.test("each part of a text is found in it", () => {
  const text = "Ünïcode İı ß ﬁ ① Å\u0301ngström \u304c\ud55c\uae00 Łódź";
  const characters = [...text];
  for (let start = 0; start < characters.length; start++) {
    for (let end = start + 1; end <= characters.length; end++) {
      const part = characters.slice(start, end).join("");
      assert(finds(part, text), part);
    }
  }
});

Deno.test("wordsOf() has the parts between white space and commas", () => {
  assertEquals(wordsOf(" Smith,  Zoë\u00a0of\nRhodes,"), ["SMITH", "ZOE", "OF", "RHODES"]);
});
