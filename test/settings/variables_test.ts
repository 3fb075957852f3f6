import { assert, assertEquals, assertMatch } from "@std/assert";
import { VARIABLES } from "../../src/settings/variables.ts";
import { VERSION } from "../../src/settings/version.ts";
import { permitted } from "../support/permitted.ts";
import { runTask } from "../support/run_task.ts";

const ROOT = new URL("../../", import.meta.url);

/** A path where even root cannot create a file. */
const NO_STORE = "/dev/null/pets.sqlite3";

const TOOLS = ["keys", "log", "backup", "replay", "audit", "restore", "publish", "prove"];

/** Arguments with which a tool opens the store. */
const ARGUMENTS: Record<string, string[]> = {
  keys: ["list"],
  backup: ["/dev/null/pets.jsonl"],
  restore: ["-"],
  publish: ["/dev/null/published", "--key", "/dev/null/key"],
  prove: ["1", "--published", "/dev/null/published"],
};

/** The names of the variables that a program may read, and does read. */
async function variablesReadBy(module: string, args: string[] = []): Promise<Set<string>> {
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--allow-all", "--preload", "test/settings/record_env.ts"],
      module,
      ...args,
    ],
    cwd: ROOT,
    env: { KV_PATH: NO_STORE },
    stdin: "null",
  }).output();
  const lines = new TextDecoder().decode(stderr).split("\n");
  const { permissions } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  return new Set(lines.filter((line) => permissions.program.env.includes(line)));
}

Deno.test({
  name: "--help of the service and of every tool names every variable that the program reads",
  ignore: !permitted("env", "net", "read", "run", "write"),
  async fn() {
    const programs: [task: string, module: string][] = [
      ["start", "src/main.ts"],
      ["dev", "scripts/dev/main.ts"],
      ...TOOLS.map((tool): [string, string] => [tool, `scripts/${tool}/main.ts`]),
    ];
    for (const [task, module] of programs) {
      const { stdout } = await runTask([task, "--help"], { kvPath: NO_STORE });
      const described = [...stdout.matchAll(/^ {2}([A-Z_]+) {3}/gm)].map(([, name]) => name);
      const read = await variablesReadBy(module, ARGUMENTS[task]);
      assert(read.size > 0, task);
      for (const name of read) assert(described.includes(name), `${task} --help lacks ${name}`);
      for (const name of described) assert(Object.hasOwn(VARIABLES, name), name);
    }
  },
});

Deno.test({
  name: "--version of the service and of every tool prints the version",
  ignore: !permitted("env", "net", "read", "run", "write"),
  async fn() {
    assertMatch(VERSION, /^\d+\.\d+\.\d+$/);
    for (const task of ["start", "dev", ...TOOLS]) {
      const outcome = await runTask([task, "--version"], { kvPath: NO_STORE });
      const expected = { code: 0, stdout: `animal-store ${VERSION}\n`, stderr: "" };
      assertEquals([task, outcome], [task, expected]);
    }
  },
});

Deno.test({
  name: "README: its settings are those of the service, with their defaults",
  ignore: !permitted("read"),
  async fn() {
    const readme = await Deno.readTextFile(new URL("README.md", ROOT));
    const table = readme.slice(readme.indexOf("### Settings"), readme.indexOf("### Life cycle"));
    const rows = [...table.matchAll(/^\| `([A-Z_]+)` +\| (?:`([^`]+)`|none) +\|/gm)]
      .map(([, name, value]) => [name, value]);
    const others = ["NO_COLOR", "TMPDIR", "DENO_DEPLOYMENT_ID"];
    others.push("DENO_KV_DEFAULT_PATH", "DENO_KV_PATH_PREFIX");
    const expected = Object.entries<{ meaning: string; default?: string }>(VARIABLES)
      .filter(([name]) => !others.includes(name))
      .map(([name, variable]) => [name, variable.default]);
    assertEquals(rows, expected);
  },
});
