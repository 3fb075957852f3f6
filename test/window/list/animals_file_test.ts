import { assert, assertEquals } from "@std/assert";
import type { Pet } from "../../../events/pet.ts";
import { animalsFile } from "../../../src/window/list/animals_file.ts";
import { setCategoryNames } from "../../../src/window/data/categories.ts";
import { parseCsv } from "../../../src/window/csv/parse_csv.ts";
import { guessColumns } from "../../../src/window/import/columns.ts";
import { NO_MEANINGS } from "../../../src/window/import/meanings.ts";
import { planAdditions, planChanges, type Reading } from "../../../src/window/import/plan.ts";
import { readTable, type Table } from "../../../src/window/import/table.ts";
import { Random } from "../../sim/random.ts";

const rowsOf = (text: string) => parseCsv(text).map(({ cells }) => cells);

function tableOf(pets: readonly Pet[]) {
  return readTable(new TextEncoder().encode(animalsFile(pets).join("")));
}

Deno.test("animalsFile() has no formula in the name of an animal or of a category, for any separator", () => {
  setCategoryNames([{ id: -50n, name: "Snakes;=1+1;old" }, { id: 51n, name: "Toads\n=1|@a" }]);
  const lines = animalsFile([
    { id: 1, name: "Bo", categoryId: -50n, status: "sold", note: "=1\n-1;@a" },
    { id: 2, name: "=1\t-1", categoryId: 51n },
  ]);
  const rows = rowsOf(lines.join(""));
  // There may be other fields.
  const columns = ["Name", "Category", "Status", "Note", "Id"].map((it) => rows[0].indexOf(it));
  assertEquals(rows.slice(1).map((row) => columns.map((column) => row[column])), [
    ["Bo", "Snakes;'=1+1;old", "sold", "'=1\n'-1;'@a", "1"],
    ["'=1\t'-1", "Toads\n'=1|'@a", "", "", "2"],
  ]);
  for (const separator of [";", "\t", "|"]) {
    const cells = rowsOf(`sep=${separator}\n${lines.join("")}`).flat();
    assertEquals(cells.filter((cell) => /^[=+\-@]/.test(cell)), []);
  }
});

Deno.test("animalsFile() has the name of a category, and its id if the name does not mean this category", () => {
  const names: [bigint, string][] = [
    [7n, "Dogs"],
    [8n, "10"],
    [9n, "Twins"],
    [10n, " twins "],
    [-5n, " "],
    [6n, " Old "],
  ];
  setCategoryNames(names.map(([id, name]) => ({ id, name })));
  const pets = [7n, 8n, 9n, 10n, -5n, 6n, 4n].map((categoryId, id) => ({
    id,
    name: "x",
    categoryId,
  }));
  const [, ...rows] = rowsOf(animalsFile(pets).join(""));
  assertEquals(rows.map(([, cell]) => cell), ["Dogs", "8", "9", "10", "-5", " Old ", "4"]);
});

function readingOf(table: Table): Reading {
  return { table, columns: guessColumns(table.titles), meanings: NO_MEANINGS };
}

Deno.test("another name of a category in a file of animalsFile() changes the category of the animal", () => {
  setCategoryNames([{ id: 7n, name: "Dogs" }, { id: 8n, name: "Cats" }]);
  const pets = [{ id: 1, name: "Bo", categoryId: 7n }, { id: 2, name: "Mia", categoryId: 7n }];
  const edited = animalsFile(pets).join("").replace("Bo,Dogs", "Bo,Cats");
  const table = readTable(new TextEncoder().encode(edited));
  const byId = new Map(pets.map((pet) => [pet.id, pet]));
  const { entries, unchanged } = planChanges(readingOf(table), byId);
  assertEquals(entries.map((it) => it.kind === "change" && it.patch), [{ categoryId: 8n }]);
  assertEquals(unchanged, 1);
});

Deno.test("An import of animalsFile() changes nothing in the same store, and adds the same animals to another", () => {
  const random = new Random(3);
  const parts = ["=", "-", "@", '"', "'", " ", "\t", ";", "|", "\r", "\n", "a", "7"];
  const textOf = () => Array.from({ length: 8 }, () => random.pick(parts)).join("");
  for (let round = 0; round < 300; round++) {
    const pets = new Map<number, Pet>();
    for (let id = 1; id <= 10; id++) {
      pets.set(id, { id, name: `${textOf()}a${textOf()}`, categoryId: BigInt(id % 3) });
    }
    setCategoryNames([0n, 1n, 2n].map((id) => ({ id, name: textOf() })));
    const table = tableOf([...pets.values()]);
    assertEquals(planChanges(readingOf(table), pets), {
      entries: [],
      leftOut: [],
      present: [],
      unchanged: pets.size,
    });
    const added = planAdditions(readingOf(table)).entries.map((entry) => {
      assert(entry.kind === "addition");
      return [entry.pet.name, entry.pet.categoryId];
    });
    // The page adds names without blanks around them.
    const all = [...pets.values()].map(({ name, categoryId }) => [name.trim(), categoryId]);
    assertEquals(added, all);
  }
});
