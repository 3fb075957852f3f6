import { assertRejects } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { testIf } from "../support/test_if.ts";
import { run } from "../support/third_party_tools.ts";
import { powerCuts } from "./power_cuts.ts";

const isPossible = permitted("env", "net", "read", "run", "write") && Deno.build.os === "linux" &&
  await run("cc", ["--version"]).then(() => true, () => false);
const test = testIf(isPossible);

test("a power cut loses nothing that was acknowledged", async () => {
  console.log(await powerCuts(3));
});

test("a power cut loses something acknowledged if syncs of the WAL do nothing", async () => {
  await assertRejects(() => powerCuts(5, "-wal"), Error, "has lost something");
});
