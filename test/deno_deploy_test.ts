import { assertEquals } from "@std/assert";
import { permitted } from "./support/permitted.ts";
import { runTask } from "./support/run_task.ts";

const ignore = !permitted("run", "env");

Deno.test({
  name:
    "on Deno Deploy without an attached database the service ends rather than keep pets in memory",
  ignore,
  async fn() {
    const options = { kvPath: "", env: { DENO_DEPLOYMENT_ID: "test", DENO_KV_DEFAULT_PATH: "" } };
    const { code, stdout, stderr } = await runTask(["start"], options);
    assertEquals([code, stdout], [1, ""]);
    const lines = stderr.trimEnd().split("\n");
    assertEquals(lines.length, 1, stderr);
    const expected = "error: Cannot open the store the attached database (KV_PATH): ";
    assertEquals(lines[0].startsWith(expected), true, stderr);
  },
});

Deno.test({
  name: "on Deno Deploy the service ends where KV_PATH names a store of its own",
  ignore,
  async fn() {
    for (const kvPath of [":memory:", "pets.sqlite3", "https://kv.example"]) {
      assertEquals(await runTask(["start"], { kvPath, env: { DENO_DEPLOYMENT_ID: "test" } }), {
        code: 1,
        stdout: "",
        stderr: "error: KV_PATH must not be set on Deno Deploy: attach a database there\n",
      });
    }
  },
});
