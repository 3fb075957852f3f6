import { assertEquals, assertStringIncludes } from "@std/assert";
import { permitted } from "./permitted.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test({
  name: "A test run without permissions says why it ignored tests, and a run with all does not",
  ignore: !permitted("run"),
  async fn() {
    const reason = "Tests of this file were ignored because they need --allow-read; " +
      "deno task test runs them";
    assertStringIncludes(await outputOf([]), reason);
    assertEquals((await outputOf(["--allow-all"])).includes("because they need"), false);
  },
});

async function outputOf(flags: string[]): Promise<string> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--no-check", ...flags, "test/deno_json_test.ts"],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  assertEquals(success, true);
  return new TextDecoder().decode(stdout);
}
