import { assertEquals } from "@std/assert";
import { TempStore } from "./temp_store.ts";
import { PROCESSES, testNeeding } from "./test_needing.ts";
import { run } from "./third_party_tools.ts";
import { ROOT } from "./with_project_copy.ts";

const PROGRAM = `
import { permissions, testNeeding } from "${import.meta.resolve("./test_needing.ts")}";
const missing = { name: "a cat", isMet: false };
testNeeding()("runs", () => {});
testNeeding(permissions("read"))("needs a permission", () => {});
for (const name of ["first", "second"]) {
  testNeeding({ name: "a dog", isMet: true }, missing)(name, () => {});
}
`;

testNeeding(PROCESSES)(
  "testNeeding() leaves out tests whose needs are not met, and ends with a line for each reason",
  async () => {
    await using temp = await TempStore.make();
    const file = `${temp.folder}/sample_test.ts`;
    await Deno.writeTextFile(file, PROGRAM);
    const flags = ["--no-check", "--no-prompt", "--config", `${ROOT}deno.json`];
    const { code, output } = await run(Deno.execPath(), ["test", ...flags, file]);
    const lines = output.split("\n");
    assertEquals(code, 0, output);
    assertEquals(lines.filter((line) => line.startsWith("Left out ")), [
      "Left out 1 test that needs --allow-read, as deno task test gives",
      "Left out 2 tests that need a cat",
    ]);
    assertEquals(lines.filter((line) => /passed .* 3 ignored/.test(line)).length, 1, output);
  },
);
