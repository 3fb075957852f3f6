import { assert, assertEquals } from "@std/assert";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testIf } from "../support/test_if.ts";

const test = testIf(!POSTGRES.ignore);

const ROOT = new URL("../../", import.meta.url);

const server = serverOfFile();

test("The commands of the manual create the tables as the owner, and issue a key as the service's role", async () => {
  const readme = await Deno.readTextFile(new URL("scripts/deploy/README.md", ROOT));
  const database = await server().createDatabase();
  await server().sql("create role pets login password 'secret'");
  const folder = await Deno.makeTempDir();
  try {
    const run = async (contained: string, except: RegExp) => {
      const blocks = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block);
      const [block, ...others] = blocks.filter((it) => it.includes(contained));
      assert(block !== undefined && others.length === 0, `one block has ${contained}`);
      const hosts = `127.0.0.1:${server().port}`;
      const commands = block
        .replace(except, "")
        .replaceAll("deno task", `${Deno.execPath()} task --quiet`)
        .replaceAll("schema.sql", `${folder}/schema.sql`)
        .replaceAll("postgres://owner@a.example:5432/pets", server().url(database))
        .replaceAll("a.example:5432,b.example:5432/pets", `${hosts}/${database}`)
        .replaceAll("verify-full", "prefer")
        .replaceAll("PGPASSWORD=…", "PGPASSWORD=secret");
      const { code, stdout, stderr } = await new Deno.Command("bash", {
        args: ["-euc", commands],
        cwd: ROOT,
        env: { NO_COLOR: "1" },
      }).output();
      assertEquals(code, 0, `${commands}\n${new TextDecoder().decode(stderr)}`);
      return new TextDecoder().decode(stdout);
    };
    await run("deno task schema --role pets", /^$/);
    const token = await run("export DATABASE_URL=", /^deno task start$/m);
    assert(token.startsWith("pets_"), token);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
