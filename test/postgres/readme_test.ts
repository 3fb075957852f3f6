import {
  assert,
  assertEquals,
  assertGreater,
  assertLess,
  assertMatch,
  assertRejects,
} from "@std/assert";
import { fillStore } from "../support/fill_store.ts";
import { holdSnapshot, POSTGRES, programFolder, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { expectDone } from "../support/third_party_tools.ts";
import { ROOT } from "../support/with_project_copy.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

test("The commands of the manual create the tables as the owner, and issue a key as the service's role", async () => {
  const readme = await Deno.readTextFile(`${ROOT}scripts/deploy/README.md`);
  const database = await server().createDatabase();
  await server().sql("create role pets login password 'secret'");
  await using temp = await TempStore.make();
  const run = async (contained: string, except: RegExp) => {
    const blocks = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block);
    const [block, ...others] = blocks.filter((it) => it.includes(contained));
    assert(block !== undefined && others.length === 0, `one block has ${contained}`);
    const hosts = `127.0.0.1:${server().port}`;
    const commands = block
      .replace(except, "")
      .replaceAll("deno task", `${Deno.execPath()} task --quiet`)
      .replaceAll("schema.sql", `${temp.folder}/schema.sql`)
      .replaceAll("postgres://owner@a.example:5432/pets", server().url(database))
      .replaceAll("a.example:5432,b.example:5432/pets", `${hosts}/${database}`)
      .replaceAll("verify-full", "prefer")
      .replaceAll("PGPASSWORD=…", "PGPASSWORD=secret");
    return await expectDone("bash", ["-euc", commands], { cwd: ROOT, env: { NO_COLOR: "1" } });
  };
  await run("deno task schema --role pets", /^$/);
  const token = await run("export DATABASE_URL=", /^deno task start$/m);
  assert(token.startsWith("pets_"), token);
});

test("a dump of pg_dump is restored as the manual says, and its audit finds it sound", async () => {
  const manual = await Deno.readTextFile(`${ROOT}scripts/deploy/README.md`);
  const [, block] = /^```sh\n(pg_dump [^]*?)^```$/m.exec(manual)!;
  const database = await server().createDatabase();
  const address = server().url(database);
  await expectTask(["keys", "issue", "--label", "first"], { kvPath: address });
  await using temp = await TempStore.make();
  const copy = await server().createDatabase();
  const commands = block
    .replaceAll("deno task", `${Deno.execPath()} task --quiet`)
    .replaceAll("pets.dump", `${temp.folder}/pets.dump`)
    .replaceAll("postgres://owner@a.example:5432/pets", address)
    .replaceAll(/^createdb .*$/gm, "")
    .replaceAll("postgres://owner@a.example:5432/copy", server().url(copy));
  const env = { NO_COLOR: "1", PATH: `${programFolder()}:${Deno.env.get("PATH")}` };
  const report = await expectDone("bash", ["-euc", commands], { cwd: ROOT, env });
  assertMatch(report, /^Sound: /m);
});

test("the manual's command gives the space of a replay back to the disk beside the service, and ends if a dump is reading", async () => {
  const manual = await Deno.readTextFile(`${ROOT}scripts/deploy/README.md`);
  const [, block] = /^```sh\n(psql --command "set lock[^]*?)^```$/m.exec(manual)!;
  const database = await server().createDatabase();
  const address = server().url(database);
  const token = await fillStore(address, 2_000);
  const size = async () =>
    Number(await server().sql("select pg_total_relation_size('animal_store.records')", database));
  const before = await size();
  await expectTask(["replay", "--grace", "0"], { kvPath: address });
  assertGreater(await size(), 1.3 * before);
  const command = block.replaceAll("postgres://owner@a.example:5432/pets", address);
  const vacuum = () => expectDone("bash", ["-euc", command], { cwd: ROOT });
  await using service = await ServiceProcess.start(address);
  const add = () => service.add({ name: "Rex", categoryId: 1 }, token);
  {
    await using _dump = await holdSnapshot(server(), database, "animal_store.records");
    await assertRejects(vacuum, Error, "lock timeout");
    assertEquals(await add(), 201);
  }
  await vacuum();
  assertLess(await size(), 1.1 * before);
  assertEquals(await add(), 201);
  await expectTask(["audit"], { kvPath: address });
});
