import { assertEquals } from "@std/assert";
import { draftOf, planOf } from "../../../src/window/import/draft.ts";
import { previewSample, sampleWords } from "../../../src/window/import/preview_sample.ts";

Deno.test("previewSample() has the first lines, and some that show whether the encoding and the quotes are right", () => {
  const names = Array.from({ length: 40 }, (_, index) => `Animal ${index}`);
  names[20] = "Zoë";
  names[22] = '"two\nlines"';
  for (let index = 25; index < 40; index++) names[index] = `Łatka ${index}`;
  const text = ["name,category", ...names.map((name) => `${name},7`)].join("\n");
  const { entries } = planOf(draftOf("animals.csv", new TextEncoder().encode(text)), undefined)!;
  const sample = previewSample(entries);
  assertEquals(sample.first, entries.slice(0, 15));
  const special = sample.special.map((entry) => entries.indexOf(entry));
  assertEquals(special, [20, 22, 25, 26, 27]);
  assertEquals(
    sampleWords(sample, 40),
    "The first 15 of 40, then 5 of the others with accents or line breaks",
  );
  assertEquals(sampleWords(previewSample(entries.slice(0, 16)), 16), "The first 15 of 16");
  assertEquals(sampleWords(previewSample(entries.slice(0, 15)), 15), undefined);
});
