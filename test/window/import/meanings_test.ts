import { assertEquals } from "@std/assert";
import {
  type Draft,
  draftOf,
  planOf,
  withColumn,
  withMeaning,
} from "../../../src/window/import/draft.ts";
import { unknownWords } from "../../../src/window/import/meanings.ts";

const fileOf = (text: string) => draftOf("animals.csv", new TextEncoder().encode(text));

const wordsOf = ({ table, columns }: Draft) =>
  unknownWords(table, columns).map(({ field, words }) => [
    field.name,
    words.map(({ text, count }) => [text, count]),
  ]);

const keysOf = ({ table, columns }: Draft) =>
  unknownWords(table, columns)[0].words.map(({ key }) => key);

const STATUSES = "name,category,status\nRex,7,frei\nMia,7,verkauft\nTom,7,FREI\u200b\nZoe,7,\n" +
  "Max,7,sold\nBo,7, Frei \nKaa,7,?\n";

Deno.test("unknownWords() has each word once that the status does not know, the most frequent one first", () => {
  assertEquals(wordsOf(fileOf(STATUSES)), [["status", [["frei", 3], ["verkauft", 1], ["?", 1]]]]);
  assertEquals(wordsOf(fileOf("name,category,status\nRex,7,Sold\nMia,7,no status\n")), []);
  // Nothing is asked of a column that is not imported.
  assertEquals(wordsOf(withColumn(fileOf(STATUSES), "status", undefined)), []);
});

Deno.test("a word means one thing in the whole file, and without a meaning its lines are left out", () => {
  const draft = fileOf(STATUSES);
  const [free, sold, unclear] = keysOf(draft);
  const isFree = withMeaning(draft, free, "available");
  const isSold = withMeaning(isFree, sold, "sold");
  const isAbsent = withMeaning(isSold, unclear, "");
  const statusesOf = (of: Draft) => {
    const { entries, leftOut } = planOf(of, undefined)!;
    const added = entries.map((it) => it.kind === "addition" && [it.pet.name, it.pet.status]);
    return [added, leftOut.map(({ row }) => row.line)];
  };
  assertEquals(statusesOf(draft), [[["Zoe", undefined], ["Max", "sold"]], [2, 3, 4, 7, 8]]);
  assertEquals(statusesOf(isAbsent), [
    [
      ["Rex", "available"],
      ["Mia", "sold"],
      ["Tom", "available"],
      ["Zoe", undefined],
      ["Max", "sold"],
      ["Bo", "available"],
      ["Kaa", undefined],
    ],
    [],
  ]);
  // The words can still be chosen anew.
  assertEquals(keysOf(isAbsent), [free, sold, unclear]);
  assertEquals(statusesOf(withMeaning(isAbsent, sold, undefined))[1], [3]);
});

Deno.test("a word means the same in a change of an animal, and a status can be removed by it", () => {
  const draft = fileOf("id,status\n1,frei\n2,weg\n3,frei\n");
  const [free, gone] = keysOf(draft);
  const pets = new Map([
    [1, { id: 1, name: "Rex", categoryId: 7n }],
    [2, { id: 2, name: "Mia", categoryId: 7n, status: "sold" as const }],
    [3, { id: 3, name: "Tom", categoryId: 7n, status: "available" as const }],
  ]);
  const plan = planOf(withMeaning(withMeaning(draft, free, "available"), gone, ""), pets)!;
  assertEquals(plan.entries.map((it) => it.kind === "change" && [it.before.id, it.patch]), [
    [1, { status: "available" }],
    [2, { status: null }],
  ]);
  assertEquals([plan.unchanged, plan.leftOut], [1, []]);
});
