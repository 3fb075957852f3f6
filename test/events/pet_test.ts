import { assertEquals } from "@std/assert";
import { INT64_MAX, parseExactJson } from "../../events/int64.ts";
import {
  encodePet,
  hasCategory,
  patchPet,
  Pet,
  PetPatch,
  plainPet,
  reversePatch,
} from "../../events/pet.ts";

Deno.test("encodePet() writes exact JSON with its members in one order", () => {
  const pet: Pet = { status: "sold", categoryId: INT64_MAX, name: 'R"ex\n🐈', id: 7 };
  const text = encodePet(pet);
  assertEquals(
    text,
    '{"id":7,"name":"R\\"ex\\n🐈","categoryId":9223372036854775807,"status":"sold"}',
  );
  assertEquals(Pet.parse(parseExactJson(text)), pet);
});

Deno.test("hasCategory() compares the category of a text, and nothing that looks like one", () => {
  for (const name of ["Rex", ',"categoryId":1,', '"categoryId":12}', "a,"]) {
    for (const categoryId of [1n, 12n, -1n, 123n]) {
      for (const status of ["sold", undefined] as const) {
        const text = encodePet({ id: 1, name, categoryId, status });
        for (const one of ["1", "12", "-1", "2"]) {
          assertEquals(hasCategory(text, one), one === String(categoryId), text);
        }
      }
    }
  }
});

Deno.test("patchPet() and reversePatch() lead from a pet to another and back", () => {
  const before: Pet = { id: 7, name: "Rex", categoryId: 1n, status: "available" };
  const patches: [patch: PetPatch, after: Omit<Pet, "id">, previous: PetPatch][] = [
    [{ status: "sold" }, { ...before, status: "sold" }, { status: "available" }],
    [{ status: null }, { name: "Rex", categoryId: 1n }, { status: "available" }],
    [{ name: "Max", categoryId: 1n }, { ...before, name: "Max" }, { name: "Rex" }],
    [{ name: "Rex" }, before, {}],
    [{}, before, {}],
  ];
  for (const [patch, after, previous] of patches) {
    const patched = patchPet(before, patch);
    assertEquals(patched, { id: 7, ...after });
    assertEquals(reversePatch(before, patched), previous);
    assertEquals(patchPet(patched, previous), before);
  }
  const { status: _, ...without } = before;
  assertEquals(reversePatch(without, before), { status: null });
});

Deno.test("plainPet() gives what the schema gives, and nothing for a value that the schema refuses", () => {
  const rex = { id: 1, name: "Rex", categoryId: 7, status: "sold" };
  const { status: _, ...noStatus } = rex;
  for (const pet of [rex, noStatus, { ...rex, name: "🐈", categoryId: -7 }]) {
    assertEquals(plainPet(pet), Pet.parse(parseExactJson(JSON.stringify(pet))));
  }
  const { name: __, ...noName } = rex;
  const wrong: [string, unknown][] = [["id", 0], ["id", 1.5], ["id", "1"], ["name", ""]];
  wrong.push(["name", "\ud800"], ["name", "x".repeat(1_001)], ["name", null], ["name", 7]);
  wrong.push(["categoryId", 2 ** 53], ["categoryId", "7"], ["status", "gone"], ["status", null]);
  wrong.push(["colour", "red"], ["previous", {}], ["constructor", 1]);
  for (const [name, value] of wrong) assertEquals(plainPet({ ...rex, [name]: value }), undefined);
  assertEquals(plainPet(noName), undefined);
  assertEquals(plainPet(JSON.parse('{"__proto__":{"id":1}}')), undefined);
  assertEquals(plainPet({ categoryId: 7, status: null }, true), { categoryId: 7n, status: null });
  for (const patch of [{ name: null }, { id: 1 }, { status: "gone" }]) {
    assertEquals(plainPet(patch, true), undefined);
  }
});
