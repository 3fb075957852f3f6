/** deno.json, the lock files and the READMEs say what the tables of the code say. */

import { globSync } from "node:fs";
import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../scripts/commands.ts";
import { STORE_VARIABLES } from "../src/settings/variables.ts";
import { withCommands } from "./command_tasks.ts";
import { MUTANTS } from "./sim/mutants.ts";
import { permissions, testNeeding } from "./support/test_needing.ts";
import { run } from "./support/third_party_tools.ts";

const ROOT = new URL("../", import.meta.url);
const LOCKS = ["deno.lock", "test/deno.lock"];

/** Tests and measurements may do everything. */
const UNLIMITED_TASKS = /^(test|bench)(:|$)|^(build|bundle|faults|sim|pack|ok)$/;

const read = (file: string) => Deno.readTextFile(new URL(file, ROOT));
const readJson = async (file: string) => JSON.parse(await read(file));

const test = testNeeding(permissions("read"));

test("deno.json has the tasks and the permissions that follow from the table of commands", async () => {
  const text = await read("deno.json");
  const remedy = "run deno run --allow-read --allow-write test/command_tasks.ts";
  assertEquals(text, withCommands(text), remedy);
  const spoilt = text.replace("-P=command", "-P=service").replace('"READS",', "");
  assertEquals(withCommands(spoilt), text);
});

test("A command has the permissions of the service, without those for variables that no command needs", async () => {
  const { permissions: { service, command }, tasks } = await readJson("deno.json");
  // pg reads these on its own. They are hidden, so that only our settings count.
  const ignored = ["BINARY", "CLIENT_ENCODING", "OPTIONS", "REPLICATION", "SSLNEGOTIATION"];
  assertEquals(service.env.ignore, ignored.map((name) => `PG${name}`));
  assertEquals(command.env.ignore, service.env.ignore);
  assertEquals(command.write, service.write);
  // The command status asks the service, and the command webhooks calls an endpoint.
  const further = ["HOST", "PORT", "WEBHOOK_KEY", "WEBHOOK_ALLOW", "CALLED_AS"];
  assertEquals(command.env.allow, [...STORE_VARIABLES, ...further]);
  const others = Object.keys(tasks).filter((name) => !UNLIMITED_TASKS.test(name));
  assertEquals(others, Object.keys(COMMANDS));
});

test("Each promise of test/README.md has one owner, and leads to tests and to a mutant that exist", async () => {
  const rows = promisesIn(await read("test/README.md"));
  assert(rows.length > 100, `${rows.length} promises`);
  const sections = sectionsIn(await read("test/interface/sections.ts"));
  for (const { promise, owner, noticers, mutant } of rows) {
    const isFile = owner.endsWith("_test") || sections.includes(owner);
    assert(isFile, `${promise}: ${owner} must be a file of tests`);
    await Deno.stat(new URL(`test/${owner}.ts`, ROOT));
    assert(!noticers.includes(owner), promise);
    for (const path of noticers) {
      const file = new URL(`test/${path}`, ROOT);
      await Deno.stat(file).catch(() => Deno.stat(`${file.pathname}.ts`));
    }
    assert(mutant === "" || MUTANTS.some(({ name }) => name === mutant), mutant);
  }
  const promises = rows.map(({ promise }) => promise);
  assertEquals(promises.filter((it, index) => promises.indexOf(it) !== index), []);
});

/** The files of the sections of the interface, which sections.ts imports. */
function sectionsIn(source: string): string[] {
  const imports = source.matchAll(/^import \{ [A-Z_]+ \} from "\.\/(\w+)\.ts";$/gm);
  return Array.from(imports, ([, name]) => `interface/${name}`);
}

/** The rows of the tables of promises. */
function promisesIn(manual: string) {
  const tables = manual.matchAll(/^\| Promise .*\n\|[- |]+\n((?:\|.*\n)+)/gm);
  const rows = Array.from(tables, ([, rows]) => rows.trim().split("\n")).flat();
  return rows.map((row) => {
    const [promise, ownerCell, noticerCell, mutant] = row.split("|").slice(1)
      .map((cell) => cell.trim());
    const [, owner] = /^`([\w/]+)`$/.exec(ownerCell) ?? [];
    assert(owner !== undefined, `${promise} has no owner, or several`);
    const noticers = Array.from(noticerCell.matchAll(/`([\w/]+)`/g), ([, path]) => path);
    return { promise, owner, noticers, mutant };
  });
}

testNeeding(permissions("read", "run", "write"))(
  "Every test module loads without permissions, so that a plain deno test is green",
  async () => {
    const tests = globSync("test/**/*_test.ts", { cwd: ROOT.pathname });
    const program = await Deno.makeTempFile({ suffix: ".ts" });
    await Deno.writeTextFile(program, tests.map((it) => `import "${ROOT}${it}";\n`).join(""));
    const flags = ["--no-check", "--no-prompt", "--config", new URL("deno.json", ROOT).pathname];
    const { code, output } = await run(Deno.execPath(), ["run", ...flags, program]);
    await Deno.remove(program);
    assertEquals(code, 0, output);
  },
);

test("No program writes its environment, and each package is one of a program", async () => {
  let sources = "";
  for (const path of globSync("{events,src,scripts}/**/*.{ts,js}", { cwd: ROOT.pathname })) {
    const source = await read(path);
    assert(!/\benv\.(set|delete)\b|\bprocess\.env[.[\]\w]* =|delete process/.test(source), path);
    sources += source;
  }
  for (const name of Object.keys((await readJson("deno.json")).imports)) {
    // Only the tests use these. The package of the other @std names holds the first, and Scalar needs ajv.
    if (/^(@std\/(assert|testing)|ajv)/.test(name)) continue;
    assert(sources.includes(`from "${name}`) || sources.includes(`("${name}`), name);
  }
});

test("test/deno.lock pins what deno.lock pins, and neither has native modules of @deno/kv", async () => {
  const [lock, testLock] = await Promise.all(LOCKS.map(readJson));
  assertEquals(testLock.workspace, lock.workspace);
  // Otherwise `deno task build` refuses its lock.
  assertEquals((await readJson("scripts/build/deno.lock")).workspace, lock.workspace);
  for (const [name, pin] of Object.entries(lock.specifiers)) {
    assertEquals(testLock.specifiers[name], pin, name);
  }
  const integrityOf = integrities(testLock);
  for (const [name, integrity] of Object.entries(integrities(lock))) {
    assertEquals(integrityOf[name], integrity, name);
  }
  for (const [index, { npm }] of [lock, testLock].entries()) {
    // A KV Connect client never uses these 3 MB.
    const hint = `remove @deno/kv-* and "optionalDependencies" of @deno/kv from ${LOCKS[index]}`;
    assertEquals(Object.keys(npm).filter((name) => name.startsWith("@deno/kv-")), [], hint);
  }
});

/** The integrity of each package, by name and version: a lock may add versions of peers to the name. */
function integrities({ npm }: { npm: Record<string, { integrity: string }> }) {
  return Object.fromEntries(
    Object.entries(npm).map(([name, pin]) => [name.split("_")[0], pin.integrity]),
  );
}
