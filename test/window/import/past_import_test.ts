import { assertEquals } from "@std/assert";
import type { Pet } from "../../../events/pet.ts";
import { draftOf, planOf } from "../../../src/window/import/draft.ts";
import {
  knownAdditions,
  openLines,
  type PastImport,
  type PastLine,
  pastLineOf,
  undoOfLines,
  withKnown,
} from "../../../src/window/import/past_import.ts";
import type { Plan } from "../../../src/window/import/plan.ts";

const REX: Pet = { id: 1, name: "Rex", categoryId: 7n, status: "sold" };

function planOfFile(text: string, pets: readonly Pet[] = []): Plan {
  const byId = new Map(pets.map((pet) => [pet.id, pet]));
  return planOf(draftOf("animals.csv", new TextEncoder().encode(text)), byId)!;
}

/** The lines of an import of a plan, whose new animals get ids from 10 on. */
function importOf(id: string, { entries }: Plan): PastImport {
  const lines = entries.map((entry, index) => {
    if (entry.kind === "addition") return pastLineOf(entry, { ...entry.pet, id: 10 + index });
    const after = { ...entry.before, ...entry.patch, status: undefined } as Pet;
    return pastLineOf(entry, after);
  });
  return { id, fileName: "animals.csv", startedAt: 0, lines };
}

const ended = (past: PastImport, end: PastLine["end"]): PastImport => ({
  ...past,
  lines: past.lines.map((line) => ({ ...line, end })),
});

Deno.test("undoOfLines() removes what was added and sets back what was changed, unless somebody has changed it since", () => {
  const plan = planOfFile(
    "id,name,category,status\n1,Max,8,\n,Tom,7,\n,Zoe,7,\n,Bo,7,\n",
    [REX],
  );
  const { lines } = importOf("a", plan);
  const max: Pet = { id: 1, name: "Max", categoryId: 8n };
  const tom: Pet = { id: 11, name: "Tom", categoryId: 7n };
  const zoe: Pet = { id: 12, name: "Zoe", categoryId: 7n, status: "sold" };
  const undo = undoOfLines(lines, new Map([max, tom, zoe].map((pet) => [pet.id, pet])));
  assertEquals(undo.changes, [
    { pet: max, previous: { name: "Rex", categoryId: 7n, status: "sold" } },
  ]);
  assertEquals(undo.removals, [tom]);
  // Bo is gone, as the undo would have it.
  assertEquals(undo.kept, [{ pet: zoe, why: "Somebody has changed it since" }]);
  const none = undoOfLines(lines.slice(0, 1), new Map());
  assertEquals(none.kept.map(({ pet, why }) => [pet.id, why]), [[
    1,
    "Somebody has removed it since",
  ]]);
});

Deno.test("what is remembered of an import has no name of an animal that it added", () => {
  const { lines } = importOf("a", planOfFile("name,category\nTom,7\n"));
  assertEquals(Object.keys(lines[0]).toSorted(), ["after", "key", "petId"]);
  assertEquals(JSON.stringify(lines).includes("Tom"), false);
});

Deno.test("withKnown() tells animals that are there already from those of an import that is undone", () => {
  const plan = planOfFile("name,category\nTom,7\nZoe,7\nTom,7\n");
  const namesOf = (of: Plan) => [
    of.entries.map((it) => it.kind === "addition" && [it.pet.name, it.again]),
    of.present.map(({ pet }) => pet.name),
  ];
  const first = importOf("a", planOfFile("name,category\nTom,7\n"));
  const known = (...imports: PastImport[]) => withKnown(plan, knownAdditions(imports));
  assertEquals(namesOf(known()), [[["Tom", ""], ["Zoe", ""], ["Tom", ""]], []]);
  assertEquals(namesOf(known(first)), [[["Zoe", ""], ["Tom", ""]], ["Tom"]]);
  assertEquals(namesOf(known(ended(first, "kept"))), namesOf(known(first)));
  const undone = ended(first, "undone");
  assertEquals(namesOf(known(undone)), [[["Tom", "a"], ["Zoe", ""], ["Tom", ""]], []]);
  // Imported again, and undone again.
  const second = importOf("b", known(undone));
  assertEquals(namesOf(known(undone, second)), [[], ["Tom", "Zoe", "Tom"]]);
  const again = known(undone, ended(second, "undone"));
  assertEquals(namesOf(again), [[["Tom", "b"], ["Zoe", "b"], ["Tom", "b"]], []]);
  assertEquals([openLines(first).length, openLines(undone).length], [1, 0]);
});
