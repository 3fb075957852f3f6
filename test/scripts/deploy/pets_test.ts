import { assertEquals, assertMatch } from "@std/assert";
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

test("pets: the caller's KV_PATH replaces that of the settings, so the advice of the manual audits what it names", async () => {
  await using temp = await TempStore.make();
  const store = temp.kvPath;
  await withPets([`KV_PATH=${store}`], async (installation) => {
    const run = (line: string) => installation.run(line);
    const restored = `${store}.restored`;
    assertEquals((await run("pets keys issue --label one && pets keys issue --label two")).code, 0);
    assertEquals((await run(`pets backup ${store}.jsonl`)).code, 0);
    assertEquals((await run("pets keys issue --label three")).code, 0);
    const steps = [
      `KV_PATH=${restored} pets restore ${store}.jsonl`,
      `KV_PATH=${restored} pets audit`,
    ];
    assertMatch((await run(steps.join(" && "))).stdout, /^Sound: 2 events, 0 pets\.$/m);
    assertMatch((await run("pets audit")).stdout, /^Sound: 3 events, 0 pets\.$/m);
    const missing = await run(`KV_PATH=${store}.missing pets audit`);
    assertEquals(missing.code, 2);
    assertMatch(missing.stderr, /\.missing \(KV_PATH\): there is no such file/);
    assertMatch(missing.stderr, /make the store with pets keys issue or restore$/m);
    assertMatch((await run("pets audit --help")).stdout, /^ {2}pets audit \[--json\]/m);
  });
});

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
    const shown = wrapper.replace(/^exec .*$/m, 'exec printenv "$@"');
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
