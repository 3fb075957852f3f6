/** Adds the operation of the guide "Add an operation" (src/http/README.md) to a copy of the project. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { editFile } from "../support/edit_file.ts";
import { codeOfGuide, commandsOfGuide, expectDeno, runDeno } from "../support/guide.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { WITH_TESTS, withProjectCopy } from "../support/with_project_copy.ts";

const testCopy = testNeeding(PROCESSES);

const TEST = `import { assertEquals } from "@std/assert";
import { openTestService } from "../support/test_service.ts";

Deno.test("countPets counts the animals, and refuses a parameter", async () => {
  await using service = await openTestService();
  for (const name of ["Rex", "Max"]) await service.add({ name, categoryId: 7 });
  assertEquals(await (await service.send("/v1/count")).json(), { animals: 2 });
  assertEquals((await service.send("/v1/count?of=dogs")).status, 400);
});
`;

/** The last row in the table of operations. */
const LAST_ROW = /\n\| 4\.(\d+) \|.*\n(?!\|)/;

testCopy("the guide adds an operation: a test names the manual, and then the copy is sound", () => {
  return withProjectCopy(async (project) => {
    const [operation] = await codeOfGuide("Add an operation");
    await Deno.writeTextFile(`${project}/src/animals/count_pets.ts`, operation);
    await Deno.writeTextFile(`${project}/test/animals/count_pets_test.ts`, TEST);
    await editFile(`${project}/src/animals/pet_operations.ts`, [
      ["import { createPet", 'import { countPets } from "./count_pets.ts";\nimport { createPet'],
      ["  listPetEvents,\n", "  listPetEvents,\n  countPets,\n"],
    ]);
    const [write, check, test] = await commandsOfGuide("Add an operation");
    const { code, output } = await runDeno(project, [...test, "--no-check"]);
    assertEquals(code, 1);
    assertStringIncludes(output, "section 4 of src/http/README.md lists every operation");
    assertStringIncludes(output, "src/http/docs/errors.md lists each code");
    assertStringIncludes(output, " 2 failed");

    const manual = `${project}/src/http/README.md`;
    const [lastRow, number] = LAST_ROW.exec(await Deno.readTextFile(manual))!;
    const row = `| 4.${Number(number) + 1} | \`countPets\` | \`GET /count\` | 200 the number |\n`;
    await editFile(manual, [[lastRow, lastRow + row]]);
    await expectDeno(project, write);
    await expectDeno(project, [...test, "--no-check"]);
    await expectDeno(project, check);
    await expectDeno(project, ["fmt", "--check", "src/animals", "test/animals"]);
    await expectDeno(project, ["lint", "src/animals", "test/animals"]);
  }, WITH_TESTS);
});
