import { assert, assertEquals } from "@std/assert";
import type { Pet } from "../../../events/pet.ts";
import {
  type Draft,
  draftOf,
  planOf,
  withColumn,
  withEncoding,
} from "../../../src/window/import/draft.ts";

const fileOf = (text: string) => draftOf("animals.csv", new TextEncoder().encode(text));
const columnsOf = ({ columns, isOfChanges }: Draft) => [columns, isOfChanges];
const NONE = new Map<number, Pet>();

Deno.test("a draft without ids adds, and has a plan as soon as it has the columns that are needed", () => {
  const draft = fileOf("animal_id,animal_name,animal_type,colour\nA1,Rex,7,red\n");
  assertEquals(columnsOf(draft), [{ name: 1 }, false]);
  assertEquals(planOf(draft, undefined), undefined);
  const chosen = withColumn(draft, "categoryId", 2);
  assertEquals(planOf(chosen, undefined)?.entries.length, 1);
  assertEquals(planOf(withColumn(chosen, "name", undefined), undefined), undefined);
});

Deno.test("withColumn() gives a column one use", () => {
  const draft = fileOf("name,category,status\nRex,7,\n");
  const moved = withColumn(draft, "status", 0);
  assertEquals(columnsOf(moved), [{ categoryId: 1, status: 0 }, false]);
  assertEquals(columnsOf(withColumn(moved, "status", undefined)), [{ categoryId: 1 }, false]);
});

Deno.test("a draft with ids changes animals, unless the reader wants to add all again", () => {
  const draft = fileOf("name,category,id\nRex,7,1\nMia,8,2\n");
  assertEquals(draft.isOfChanges, true);
  assertEquals(planOf(draft, undefined), undefined);
  const pets = new Map([[1, { id: 1, name: "Rex", categoryId: 6n }]]);
  const plan = planOf(draft, pets);
  assertEquals(plan?.entries.map(({ kind }) => kind), ["change"]);
  assertEquals(plan?.leftOut.map(({ fault }) => fault), ["There is no animal with this id"]);
  const again = planOf({ ...draft, isOfChanges: false }, undefined);
  assertEquals(again?.entries.map(({ kind }) => kind), ["addition", "addition"]);
  const without = withColumn(draft, "id", undefined);
  assertEquals(columnsOf(without), [{ name: 0, categoryId: 1 }, false]);
  assertEquals(columnsOf(withColumn(without, "id", 2)), [{ name: 0, categoryId: 1, id: 2 }, true]);
  // Another use of the column of the ids.
  assertEquals(columnsOf(withColumn(draft, "status", 2)), [
    { name: 0, categoryId: 1, status: 2 },
    false,
  ]);
});

Deno.test("withEncoding() reads the file again, and keeps the chosen columns", () => {
  const bytes = Uint8Array.from("A;B\n\xafaba;8\n", (it) => it.charCodeAt(0));
  const draft = withColumn(withColumn(draftOf("a.csv", bytes), "name", 0), "categoryId", 1);
  const [entry] = planOf(withEncoding(draft, "windows-1250"), NONE)!.entries;
  assert(entry.kind === "addition");
  assertEquals(entry.pet.name, "Żaba");
});
