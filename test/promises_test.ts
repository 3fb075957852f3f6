import { assert } from "@std/assert";
import { MUTANTS } from "./sim/mutants.ts";
import { permitted } from "./support/permitted.ts";

Deno.test({
  name: "Each promise of test/README.md leads to tests and to a mutant that exist",
  ignore: !permitted("read"),
  async fn() {
    const manual = await Deno.readTextFile(new URL("./README.md", import.meta.url));
    const [, table] = /^\| Promise .*\n\|[- |]+\n((?:\|.*\n)+)/m.exec(manual)!;
    for (const row of table.trim().split("\n")) {
      const [promise, tests, mutant] = row.split("|").slice(1).map((cell) => cell.trim());
      const paths = [...tests.matchAll(/`([\w/]+)`/g)].map(([, path]) => path);
      assert(paths.length > 0, promise);
      for (const path of paths) assert(exists(path) || exists(`${path}.ts`), path);
      assert(mutant === "" || MUTANTS.some(({ name }) => name === mutant), mutant);
    }
  },
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(new URL(path, import.meta.url)) !== undefined;
  } catch {
    return false;
  }
}
