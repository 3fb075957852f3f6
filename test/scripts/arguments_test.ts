/** The common part of all commands: help, version and the refusal of wrong arguments and stores. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Command } from "../../scripts/cli/table_entry.ts";
import { type CommandName, COMMANDS } from "../../scripts/commands.ts";
import { helpOf } from "../../scripts/cli/help.ts";
import { VERSION } from "../../src/settings/version.ts";
import { INTERNAL_VARIABLES, STORE_VARIABLES } from "../../src/settings/variables.ts";
import { GRACE_MS } from "../../src/eventstore_less/tools/rebuild.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { BARE_PROGRAM } from "../support/programs.ts";
import { outcomeOf, runTask } from "../support/run_task.ts";
import { buildCommit } from "this-runtime/build_commit.ts";
import { run } from "../support/third_party_tools.ts";
import { ROOT } from "../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

/** A path where even root cannot create a file. */
const NO_STORE = { kvPath: "/dev/null/pets.sqlite3", env: { PORT: "0" } };

/** Arguments with which a command opens the store, or what it reads in its place. */
const OPENING: { [Name in CommandName]?: string[] } = {
  keys: ["list"],
  backup: ["/dev/null/pets.jsonl"],
  restore: ["missing.jsonl"],
  erase: ["--subject", "pets/1", "missing.jsonl"],
  publish: ["missing", "--key", "deno.json"],
  prove: ["1", "--published", "missing"],
};

const ALL = Object.entries<Command>(COMMANDS);

Deno.test("The help of each command names its flags, arguments, variables and exit codes", () => {
  for (const [name, command] of ALL) {
    const { title, usage, flags = {}, positionals = [], variables = STORE_VARIABLES } = command;
    const flagNames = Object.keys(flags).map((flag) => flag.split(" ")[0]);
    const forms = usage.join("\n");
    for (const word of [...flagNames, ...positionals.filter((word) => word !== "ACTION")]) {
      assert(forms.includes(word), word);
    }
    const help = helpOf(command);
    const lines = help.split("\n");
    assertEquals(lines.filter((line) => line.length > 100), []);
    assert(help.startsWith(title.slice(0, 60)));
    assertMatch(help, new RegExp(`\n  deno task ${name}`));
    assertMatch(help, /\nExit codes: 0 /);
    const described = lines.flatMap((line) => /^ {2}(--[a-z-]+|[A-Z_]+) .*/.exec(line)?.[1] ?? []);
    assertEquals(described.toSorted(), [...flagNames, ...variables].sort());
  }
  const ofDev = helpOf(COMMANDS.dev);
  assertMatch(ofDev, /^ {2}HOST +address to listen on \(default: 127\.0\.0\.1\)$/m);
  assert(!ofDev.includes("0.0.0.0"));
  assertMatch(COMMANDS.replay.flags!["--grace SECONDS"], RegExp(`default: ${GRACE_MS / 1_000}\\)`));
});

test("Each command reads only its variables, and exits with 2 and one line if it cannot open the store", async () => {
  for (const [name, command] of ALL) {
    // They open nothing.
    if (name === "schema" || name === "conformance") continue;
    const { code, errors, variables } = await runRecorded(name, OPENING[name as CommandName]);
    assertEquals([name, code, errors.length], [name, 2, 1], errors.join("\n"));
    const internal = Object.keys(INTERNAL_VARIABLES);
    const expected: string[] = [...command.variables ?? STORE_VARIABLES, ...internal];
    assert(variables.length > 0);
    assertEquals(variables.filter((it) => !expected.includes(it)), [], name);
  }
});

test("The help is printed, the version gets one line, and so does a wrong flag or argument, which points to --help", async () => {
  const help = { code: 0, stdout: `${helpOf(COMMANDS.log)}\n`, stderr: "" };
  assertEquals(await runTask(["log", "--help"], NO_STORE), help);
  const build = buildCommit() === undefined ? VERSION : `${VERSION}, commit ${buildCommit()}`;
  const version = {
    code: 0,
    stdout: `Animal Store ${build} (stores of format 7, upgrades 6)\n`,
    stderr: "",
  };
  assertEquals(await runTask(["log", "--version"], NO_STORE), version);
  const cases: [args: string[], fault: string][] = [
    [["log", "--form", "3"], "Unknown option '--form'"],
    [["log", "more"], 'Unexpected argument "more"'],
    [["restore", "one", "more"], 'Unexpected argument "more"'],
    [["replay", "--grace", "-1"], "Option '--grace' needs a value that does not begin with a dash"],
  ];
  for (const [args, fault] of cases) {
    const stderr = `error: ${fault}; see --help\n`;
    assertEquals(await runTask(args, NO_STORE), { code: 2, stdout: "", stderr });
  }
});

test("The program lists its commands with their titles, and refuses another name with one line", async () => {
  const [program, ...args] = BARE_PROGRAM;
  const bare = (...more: string[]) => {
    return outcomeOf(new Deno.Command(program, { args: [...args, ...more], cwd: ROOT }));
  };
  const list = await bare();
  assertEquals([list.code, list.stderr], [0, ""]);
  assertEquals(await bare("--help"), list);
  assertEquals(await bare("-h"), list);
  for (const [name, { title }] of ALL) {
    const line = list.stdout.split("\n").find((it) => it.startsWith(`  ${name} `));
    assertEquals(line?.endsWith(`   ${title}`) ?? false, name !== "dev", name);
  }
  assertEquals(await bare("--version"), await runTask(["log", "--version"], NO_STORE));
  for (const name of ["feed", "constructor", "--all"]) {
    const stderr = `error: Unknown command ${JSON.stringify(name)}; see --help\n`;
    assertEquals(await bare(name, "--help"), { code: 2, stdout: "", stderr });
  }
});

/** Runs a command, and resolves to its errors and to the names of the variables that it may read, and does read. */
async function runRecorded(name: string, args: string[] = []) {
  const preload = ["run", "--quiet", "--allow-all", "--preload", "test/scripts/record_env.ts"];
  const env = { KV_PATH: NO_STORE.kvPath, PORT: "0" };
  const { code, output } = await run(Deno.execPath(), [
    ...preload,
    "scripts/main.ts",
    name,
    ...args,
  ], {
    cwd: ROOT,
    env,
  });
  const { permissions } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const lines = output.split("\n");
  const errors = lines.filter((line) => line.startsWith("error: "));
  const variables = new Set(
    lines.filter((line) => permissions.service.env.allow.includes(line)),
  );
  return { code, errors, variables: [...variables] };
}
