import { assertEquals } from "@std/assert";
import { INT64_MAX, parseExactJson } from "../../events/int64.ts";
import {
  encodePet,
  hasStatus,
  patchPet,
  Pet,
  PET_STATUSES,
  PetPatch,
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

Deno.test("hasStatus() compares the status of a text, and nothing that looks like one", () => {
  for (const name of ["Rex", ',"status":"sold"', '"status":"sold"}', "a,"]) {
    for (const status of [...PET_STATUSES, undefined]) {
      const text = encodePet({ id: 1, name, categoryId: 1n, status });
      for (const one of PET_STATUSES) assertEquals(hasStatus(text, one), one === status, text);
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
