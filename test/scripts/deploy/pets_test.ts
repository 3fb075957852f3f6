import { assertEquals, assertMatch } from "@std/assert";
import { versionLine } from "../../../scripts/cli/help.ts";
import { ON_DENO } from "../../support/programs.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ROOT } from "../../support/with_project_copy.ts";
import { Installation } from "./installation.ts";

const test = testNeeding(PROCESSES);

async function withPets(
  settings: string[],
  use: (installation: Installation) => Promise<void>,
): Promise<void> {
  await using installation = await Installation.make(settings);
  await installation.install("test", ROOT);
  await installation.use("test");
  await use(installation);
}

test("pets: the settings are data, as for systemd: nothing in them runs, and comments and quotes are read", async () => {
  const settings = [
    "# A comment",
    "; another one",
    "",
    "  DATABASE_URL=postgres://me:p;touch$IFS'x'`touch y`$(touch z)@127.0.0.1:1/pets?a=1&sslmode=disable  ",
    'PUBLIC_URL="https://shop.example/v1"',
    "QUOTED='a \"b\" $HOME'",
    "EMPTY=",
  ];
  await withPets(settings, async (installation) => {
    const { folder } = installation;
    const wrapper = await Deno.readTextFile(`${folder}/bin/pets`);
    const shown = wrapper.replace("export CALLED_AS=pets", 'exec printenv "$@"');
    await Deno.writeTextFile(`${folder}/bin/show`, shown, { mode: 0o755 });
    const { stdout } = await installation.run(
      "show DATABASE_URL PUBLIC_URL QUOTED EMPTY",
    );
    assertEquals(stdout.split("\n"), [
      settings[3].trim().slice("DATABASE_URL=".length),
      "https://shop.example/v1",
      'a "b" $HOME',
      "",
      "",
    ]);
    const { stdout: own } = await installation.run("EMPTY=set QUOTED= show EMPTY QUOTED");
    assertEquals(own, "set\n\n");
    const names = await Array.fromAsync(Deno.readDir(ROOT), ({ name }) => name);
    assertEquals(names.filter((name) => ["x", "y", "z"].includes(name)), []);
  });
});

test("pets: a line of the settings that it cannot read as systemd does is refused, and not shown", async () => {
  const cases: [line: string, fault: string][] = [
    ["hunter2", "it is not NAME=VALUE"],
    ["export PGPASSWORD=hunter2", "it is not NAME=VALUE"],
    [
      "PGPASSWORD=hunter2\\n",
      "systemd would not take its backslash literally; write it as %5C, or use PGPASSFILE",
    ],
  ];
  for (const [line, fault] of cases) {
    await withPets(["PORT=0", line], async (installation) => {
      const file = `${installation.folder}/etc/animal-store.env`;
      assertEquals(await installation.run("pets audit"), {
        code: 2,
        stdout: "",
        stderr: `error: line 2 of ${file}: ${fault}\n`,
      });
    });
  }
});

test("pets: lists the commands of operators, and no task of developers", async () => {
  await withPets([], async (installation) => {
    for (const line of ["pets", "pets --help"]) {
      const { code, stdout } = await installation.run(line);
      assertEquals(code, 0);
      assertMatch(stdout, /^ {2}pets COMMAND \[ARGUMENTS\]$/m);
      assertMatch(stdout, /^ {2}audit +Proves /m);
      assertEquals(/test|bench|\bsim\b|deno task|\bdev\b/.exec(stdout), null);
    }
    const { stdout } = await installation.run("pets --version");
    assertEquals(stdout, `${versionLine()}\n`);
    const stderr = 'error: Unknown command "test"; see --help\n';
    assertEquals(await installation.run("pets test"), { code: 2, stdout: "", stderr });
  });
});

test("pets: names of files are from the folder of the caller, also that of the store", async () => {
  await withPets(["KV_PATH=missing/pets.sqlite3"], async (installation) => {
    const { folder } = installation;
    const here = (line: string) => installation.expect(`cd ${folder}/data && ${line}`);
    await here("KV_PATH=here.sqlite3 pets keys issue --label one");
    await here("KV_PATH=here.sqlite3 pets backup log.jsonl");
    const sound = /^Sound: 1 event, 0 pets\.$/m;
    assertMatch(await here("pets audit --file log.jsonl --checkpoint checkpoint.json"), sound);
    assertMatch(await here(`KV_PATH=${folder}/data/here.sqlite3 pets audit`), sound);
    const names = Array.from(Deno.readDirSync(`${folder}/data`), ({ name }) => name)
      .filter((name) => !/-(wal|shm)$/.test(name));
    assertEquals(names.sort(), ["checkpoint.json", "here.sqlite3", "log.jsonl"]);
    // The settings would name another store in each folder.
    const ofStore = await installation.run("pets audit");
    assertMatch(ofStore.stderr, /^error: Name missing\/pets\.sqlite3 \(KV_PATH\) from the root/);
    const database = "KV_PATH= DATABASE_URL=postgres://me@127.0.0.1:1/pets PGPASSFILE=pgpass";
    const ofPassword = await installation.run(`cd ${folder}/data && ${database} pets audit`);
    assertMatch(ofPassword.stderr, /^error: Cannot open the database pets on 127/);
  });
});

test("pets: a store that the caller names replaces that of the settings", async () => {
  await using temp = await TempStore.make();
  const kvPath = `KV_PATH=${temp.kvPath}`;
  const database = "DATABASE_URL=postgres://me@127.0.0.1:1/pets";
  await withPets([database, "READS=strict"], async (installation) => {
    await installation.expect(`${kvPath} pets keys issue --label one`);
    assertMatch(await installation.expect(`${kvPath} pets audit`), /^Sound: 1 event/);
    const { stderr } = await installation.run("pets audit");
    assertMatch(stderr, /^error: Cannot open the database .*127\.0\.0\.1/);
  });
  await withPets([kvPath], async (installation) => {
    assertMatch(await installation.expect("pets audit"), /^Sound: 1 event/);
    const { stderr } = await installation.run(`${database} pets audit`);
    assertMatch(stderr, /^error: Cannot open the database .*127\.0\.0\.1/);
  });
});

test("pets: a file that the user of the service cannot read is refused with the remedy", async () => {
  await using temp = await TempStore.make();
  await withPets([`KV_PATH=${temp.kvPath}`], async (installation) => {
    const { folder } = installation;
    const script = `${folder}/bin/pets`;
    const done = async (line: string) => {
      const { code, stderr } = await installation.run(`cd ${folder} && umask 077 && ${line}`);
      assertEquals(code, 0, `${line}: ${stderr}`);
    };
    await done("pets keys issue --label audit.jsonl && pets log > pets.jsonl");
    await done("pets audit --file - < pets.jsonl");
    await done(`pets audit --file ${folder}/pets.jsonl`);
    await done("pets log --subject pets/1");
    // The user of the service is another one than that of the test.
    const other = (await Deno.readTextFile(script)).replace(/^ {4}as=$/m, "    as=false");
    await Deno.writeTextFile(script, other);
    const unreadable =
      /^error: the user animal-store cannot read \S+: let that user own it; or, if it is only read, write - for its name, and <\S+$/m;
    const refused = await installation.run(`pets audit --file ${folder}/pets.jsonl`);
    assertEquals(refused.code, 2);
    assertMatch(refused.stderr, unreadable);
  });
});

testNeeding(PROCESSES, ON_DENO)(
  "pets: an installation without one of its packages says so at once, with the command that installs it",
  async () => {
    await withPets(["KV_PATH=:memory:"], async (installation) => {
      const { folder } = installation;
      const info = await installation.run(`cd ${ROOT} && ${Deno.execPath()} info --json`);
      const { denoDir } = JSON.parse(info.stdout);
      await Deno.mkdir(`${folder}/packages`);
      const run = () => installation.run(`DENO_DIR=${folder}/packages pets schema`);
      const remedy =
        /^error: (\S+) has no ([\w@/.-]+): cd (\S+) && DENO_DIR=(\S+) deno install --frozen$/m;
      const empty = await run();
      assertEquals(empty.code, 2);
      assertMatch(empty.stderr, remedy);
      await installation.run(`cp -r ${denoDir}/npm ${folder}/packages`);
      assertEquals((await run()).code, 0);
      await installation.run(`rm -r ${folder}/packages/npm/*/zod`);
      const incomplete = await run();
      assertEquals(incomplete.code, 2);
      assertMatch(incomplete.stderr, remedy);
      assertMatch(incomplete.stderr, / has no zod\/\d/);
    });
  },
);
