import { assertEquals, assertMatch } from "@std/assert";
import { permitted } from "../../support/permitted.ts";
import { runTask } from "../../support/run_task.ts";

const ignore = !permitted("env", "net", "read", "run", "write");

/** A path where even root cannot create a file. */
const NO_STORE = { kvPath: "/dev/null/pets.sqlite3", env: { PORT: "0" } };

for (const command of ["start", "dev", "keys", "log", "backup", "replay", "audit", "restore"]) {
  Deno.test({
    name: `${command} --help prints its usage on standard output and exits 0`,
    ignore,
    async fn() {
      const { code, stdout, stderr } = await runTask([command, "--help"], NO_STORE);
      assertEquals([code, stderr], [0, ""]);
      assertMatch(stdout, new RegExp(`^[A-Z][^]*\n  deno task ${command}`));
      assertMatch(stdout, /\nExit codes: 0 /);
    },
  });

  Deno.test({
    name: `${command} refuses an unknown flag with one line that names it, and exits 2`,
    ignore,
    async fn() {
      const { code, stdout, stderr } = await runTask([command, "--colour"], NO_STORE);
      assertEquals([code, stdout], [2, ""]);
      assertMatch(stderr, /^error: [^\n]*['"]--colour['"][^\n]*--help[^\n]*\n$/);
    },
  });
}
