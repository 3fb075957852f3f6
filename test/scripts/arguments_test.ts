/** The common part of all commands: help, version and the refusal of wrong arguments. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Command, type CommandName, COMMANDS, STORE } from "../../scripts/cli/commands.ts";
import { GRACE_MS } from "../../scripts/replay/replay.ts";
import { VERSION } from "../../src/settings/version.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { expectTaskFails, runTask } from "../support/run_task.ts";
import { run } from "../support/third_party_tools.ts";
import { testPublished } from "./publish/with_published.ts";
import { ROOT } from "../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

/** A path where even root cannot create a file. */
const NO_STORE = { kvPath: "/dev/null/pets.sqlite3", env: { PORT: "0" } };

/** Arguments with which a command opens the store. */
const OPENING: { [Name in CommandName]?: string[] } = {
  keys: ["list"],
  backup: ["/dev/null/pets.jsonl"],
  restore: ["-"],
  publish: ["missing", "--key", "deno.json"],
};

for (const [name, command] of Object.entries<Command>(COMMANDS)) {
  const { title, usage, flags = {}, positionals = [], variables = STORE } = command;
  const flagNames = Object.keys(flags).map((flag) => flag.split(" ")[0]);

  Deno.test(`${name}: its usage names its flags and arguments`, () => {
    const forms = usage.join("\n");
    for (const word of [...flagNames, ...positionals.filter((word) => word !== "ACTION")]) {
      assert(forms.includes(word), word);
    }
  });

  test(
    `${name}: --help, --version, and one line about a wrong flag or argument`,
    async () => {
      const help = await runTask([name, "--help"], NO_STORE);
      assertEquals([help.code, help.stderr], [0, ""]);
      const lines = help.stdout.split("\n");
      assertEquals(lines.filter((line) => line.length > 100), []);
      assert(help.stdout.startsWith(title.slice(0, 60)));
      assertMatch(help.stdout, new RegExp(`\n  deno task ${name}`));
      assertMatch(help.stdout, /\nExit codes: 0 /);
      const described = lines.flatMap((line) =>
        /^ {2}(--[a-z-]+|[A-Z_]+) .*/.exec(line)?.[1] ?? []
      );
      assertEquals(described.toSorted(), [...flagNames, ...variables].sort());

      const version = await runTask([name, "--version"], NO_STORE);
      assertEquals(version, { code: 0, stdout: `Animal Store ${VERSION}\n`, stderr: "" });

      const unknown = /^error: [^\n]*['"]--colour['"][^\n]*--help[^\n]*\n$/;
      await expectTaskFails(2, unknown, [name, "--colour"], NO_STORE);
      const more = [...positionals.map(() => "list"), "more"];
      const unexpected = /^error: Unexpected argument "(more|list)"; see --help\n$/;
      await expectTaskFails(2, unexpected, [name, ...more], NO_STORE);
    },
  );

  // `schema` reads none; for `prove`, see below.
  if (["schema", "prove"].includes(name)) continue;
  test(
    `${name}: its variables are those that it reads`,
    () => expectVariables(name as CommandName, OPENING[name as CommandName]),
  );
}

testPublished(
  "prove: its variables are those that it reads",
  ({ dir }) => expectVariables("prove", ["1", "--published", dir]),
);

test("a wrong flag gets one line, which points to --help", async () => {
  const cases: [args: string[], fault: string][] = [
    [["log", "--form", "3"], "Unknown option '--form'"],
    [["replay", "--grace", "-1"], "Option '--grace' needs a value that does not begin with a dash"],
  ];
  for (const [args, fault] of cases) {
    const stderr = `error: ${fault}; see --help\n`;
    assertEquals(await runTask(args, NO_STORE), { code: 2, stdout: "", stderr });
  }
});

Deno.test("--help repeats the grace of a replay as the code has it", () => {
  assertMatch(COMMANDS.replay.flags["--grace SECONDS"], RegExp(`default: ${GRACE_MS / 1_000}\\)`));
});

async function expectVariables(name: CommandName, args: string[] = []): Promise<void> {
  const { variables = STORE }: Command = COMMANDS[name];
  const read = await variablesReadBy(`scripts/${name}/main.ts`, args);
  assert(read.size > 0);
  // Every command reads by which name it is called.
  const expected: string[] = [...variables, "CALLED_AS"];
  assertEquals([...read].filter((it) => !expected.includes(it)), []);
}

/** The names of the variables that a command may read, and does read. */
async function variablesReadBy(module: string, args: string[]): Promise<Set<string>> {
  const preload = ["run", "--quiet", "--allow-all", "--preload", "test/scripts/record_env.ts"];
  const env = { KV_PATH: NO_STORE.kvPath };
  const { output } = await run(Deno.execPath(), [...preload, module, ...args], { cwd: ROOT, env });
  const { permissions } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  return new Set(output.split("\n").filter((line) => permissions.service.env.allow.includes(line)));
}
