import { assertRejects } from "@std/assert";
import { ON_NODE } from "../support/programs.ts";
import { LINUX, PROCESSES, testNeeding } from "../support/test_needing.ts";
import { install, run } from "../support/third_party_tools.ts";
import { powerCuts } from "./power_cuts.ts";

const COMPILER = await install("a C compiler", () => run("cc", ["--version"]));
const test = testNeeding(PROCESSES, LINUX, COMPILER);

test("a power cut loses nothing that was acknowledged", async () => {
  console.log(await powerCuts(3));
});

test("a power cut loses something acknowledged if syncs of the WAL do nothing", async () => {
  await assertRejects(() => powerCuts(5, "-wal"), Error, "has lost something");
});

testNeeding(PROCESSES, LINUX, COMPILER, ON_NODE)(
  "a power cut of services on Deno and Node that share a file loses nothing that was acknowledged",
  async () => {
    console.log(await powerCuts(3, undefined, ["deno", "node"]));
  },
);
