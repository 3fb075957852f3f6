import { assert } from "@std/assert";
import { serverOfFile, testPostgres as test } from "../support/postgres_server.ts";
import { TempStore } from "../support/temp_store.ts";
import { expectDone } from "../support/third_party_tools.ts";
import { ROOT } from "../support/with_project_copy.ts";

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
