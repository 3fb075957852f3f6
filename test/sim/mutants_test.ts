import { assertEquals, assertNotEquals } from "@std/assert";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { ROOT } from "../support/with_project_copy.ts";
import SEEDS from "./mutant_seeds.json" with { type: "json" };
import { MUTANTS, PATCHES } from "./mutants.ts";
import { patched } from "./patch.ts";

const test = testNeeding(permissions("read"));

test("Every patch applies to its source", async () => {
  for (const patch of PATCHES) {
    const source = await Deno.readTextFile(ROOT + patch.file);
    assertNotEquals(patched(patch, source), source, patch.name);
  }
});

Deno.test("Each mutant has a name of its own, and a seed", () => {
  assertEquals(MUTANTS.map(({ name }) => name).sort(), Object.keys(SEEDS).sort());
});
