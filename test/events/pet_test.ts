import { assertEquals } from "@std/assert";
import { categoryIdIn, encodePet, statusIn } from "../../events/pet.ts";

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
