import { assertEquals } from "@std/assert";
import {
  categoryIdIn,
  encodePet,
  formerValuesOf,
  patchPet,
  type Pet,
  type PetPatch,
  statusIn,
} from "../../events/pet.ts";

Deno.test("categoryIdIn() and statusIn() find both in a text, and nothing that looks like them", () => {
  const names = ["Rex", ',"categoryId":7,', '"categoryId":12}', ',"status":"pending"', "a,"];
  for (const name of names) {
    for (const categoryId of [1n, 12n, -1n, 123n]) {
      for (const status of ["sold", undefined] as const) {
        const text = encodePet({ id: 1, name, categoryId, status });
        assertEquals(categoryIdIn(text), String(categoryId), text);
        assertEquals(statusIn(text), status, text);
      }
    }
  }
});

Deno.test("patchPet() and formerValuesOf() lead from a pet to another and back", () => {
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
    assertEquals(formerValuesOf(before, patched), previous);
    assertEquals(patchPet(patched, previous), before);
  }
  const { status: _, ...without } = before;
  assertEquals(formerValuesOf(without, before), { status: null });
});
