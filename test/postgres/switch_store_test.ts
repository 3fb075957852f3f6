/** `pets switch` moves the service and its backup from a file to PostgreSQL, and back. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../src/settings/version.ts";
import { Installation } from "../scripts/deploy/installation.ts";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/with_project_copy.ts";

const test = testNeeding(POSTGRES.need, PROCESSES);

const server = serverOfFile();

test("pets switch: from a file to PostgreSQL and back, with one backup, and no password is printed", async () => {
  await server().sql("create role switcher login password 'se-cret'");
  const database = await server().createDatabase();
  await server().sql(`alter database ${database} owner to switcher`);
  const address = (password: string) =>
    `DATABASE_URL=postgres://switcher${password}@127.0.0.1:${server().port}/${database}?sslmode=disable&target_session_attrs=read-write`;
  await using installation = await Installation.make([]);
  const { folder } = installation;
  const { client } = await installation.serve([[VERSION, ROOT]]);
  const backup = `${folder}/data-backup/log.jsonl`;
  await Deno.mkdir(`${folder}/data-backup`);
  await installation.expect("systemctl enable animal-store-backup-follow");
  let lastId = 0;
  const add = async () => {
    const response = await client.add({ name: "Rex", categoryId: 1 });
    assertEquals([response.status, (await response.json()).id], [201, ++lastId]);
    await until(async () => {
      assertEquals((await Deno.readTextFile(backup)).split("\n").length, lastId + 2);
    });
  };
  await add();

  const toDatabase = `"${address(":se-cret")}"`;
  const toFile = `KV_PATH=${folder}/data/back.sqlite3`;
  for (const [store, earlier] of [[toDatabase, "KV_PATH="], [toFile, address(":…")]]) {
    await installation.expect("systemctl stop animal-store");
    const { stderr: restored, code: failed } = await installation.run(
      `pets log > ${folder}/pets.jsonl &&
        env KV_PATH= DATABASE_URL= ${store} pets restore ${folder}/pets.jsonl`,
    );
    assertEquals(failed, 0, restored);
    const { code, stderr } = await installation.run(`pets switch ${store}`);
    assertEquals(code, 0, stderr);
    assert(!stderr.includes("se-cret"), stderr);
    assert(stderr.includes(`To go back to it: pets switch ${earlier}`), stderr);
    const settings = await installation.settings;
    assertEquals(settings.match(/^(KV_PATH|DATABASE_URL)=/gm)?.length, 1);
    assert(settings.includes(`\n${store.replaceAll('"', "")}\n`), settings);
    await add();
  }
  assertMatch(await installation.expect("pets audit"), /^Sound: 4 events, 3 pets/m);
  assertEquals(
    Array.from(Deno.readDirSync(`${folder}/data-backup`), ({ name }) => name),
    ["log.jsonl"],
  );
});
