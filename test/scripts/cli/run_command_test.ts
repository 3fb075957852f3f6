import { assertEquals, assertMatch } from "@std/assert";
import { permitted } from "../../support/permitted.ts";
import { runTask } from "../../support/run_task.ts";

const ignore = !permitted("env", "net", "read", "run", "write");

/** A path where even root cannot create a file. */
const NO_STORE = { kvPath: "/dev/null/pets.sqlite3", env: { PORT: "0" } };

/** Maximum length of a line that this project writes for a terminal. */
const HELP_WIDTH = 110;

const COMMANDS = ["start", "dev", "keys", "log", "backup", "replay", "audit", "restore"];
COMMANDS.push("publish", "prove", "schema");

for (const command of COMMANDS) {
  Deno.test({
    name: `${command} --help prints its usage on standard output and exits 0`,
    ignore,
    async fn() {
      const { code, stdout, stderr } = await runTask([command, "--help"], NO_STORE);
      assertEquals([code, stderr], [0, ""]);
      assertMatch(stdout, new RegExp(`^[A-Z][^]*\n  deno task ${command}`));
      assertMatch(stdout, /\nExit codes: 0 /);
      const lines = stdout.split("\n");
      assertEquals(lines.filter((line) => line.length > HELP_WIDTH), []);
      // The usage lines name every flag that is described.
      const usage = lines.filter((line) => /^ +(deno task |\[--)/.test(line)).join("\n");
      const flags = lines.flatMap((line) => /^ {2}(--[a-z-]+) .*/.exec(line)?.[1] ?? []);
      assertEquals(flags.filter((flag) => !usage.includes(flag)), []);
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
