import { assertRejects } from "@std/assert";
import { IS_ON_NODE } from "../support/programs.ts";
import { LINUX, PROCESSES, testNeeding } from "../support/test_needing.ts";
import { install, run } from "../support/third_party_tools.ts";
import { powerCuts } from "./power_cuts.ts";

const COMPILER = await install("a C compiler", () => run("cc", ["--version"]));
const test = testNeeding(PROCESSES, LINUX, COMPILER);

test("a power cut loses nothing that was acknowledged, and without syncs of the WAL it does", async () => {
  const runtimes = IS_ON_NODE ? ["deno", "node"] as const : undefined;
  console.log(await powerCuts(3, undefined, runtimes));
  await assertRejects(() => powerCuts(5, "-wal"), Error, "has lost something");
});
