import { assertEquals } from "@std/assert";
import { permitted } from "./support/permitted.ts";
import { runTask } from "./support/run_task.ts";

const ignore = !permitted("run", "env");

Deno.test({
  name:
    "on Deno Deploy without an attached database the service ends rather than keep pets in memory",
  ignore,
  async fn() {
    for (const path of ["", ":memory:", "pets.sqlite3"]) {
      const env = { DENO_DEPLOYMENT_ID: "test", DENO_KV_DEFAULT_PATH: path };
      assertEquals(await runTask(["start"], { kvPath: "", env }), {
        code: 1,
        stdout: "",
        stderr: "error: A database must be attached on Deno Deploy: " +
          "DENO_KV_DEFAULT_PATH is not the address of one\n",
      });
    }
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
