import { assert, assertEquals, assertMatch } from "@std/assert";
import { POSTGRES, PostgresServer } from "../support/postgres_server.ts";
import { expectTask, runTask } from "../support/run_task.ts";
import { testNeeding } from "../support/test_needing.ts";

const test = testNeeding(POSTGRES.need);

test("status of a database has its size, its standbys and its last runs", async () => {
  await using primary = await PostgresServer.start();
  await using standby = await PostgresServer.standbyOf(primary);
  const database = await primary.createDatabase();
  const owner = { kvPath: primary.url(database, { ports: [primary.port, standby.port] }) };
  const folder = await Deno.makeTempDir();
  try {
    await expectTask(["keys", "issue", "--label", "shop"], owner);
    const status = async () => JSON.parse((await runTask(["status", "--json"], owner)).stdout);
    const before = await status();
    assert(before.bytes > 8_192, `${before.bytes}`);
    assertEquals([before.replicated, before.standbyNames], [false, ""]);
    assertMatch(before.doFirst, /^Commits wait for no standby, .* set synchronous_standby_names/);

    await primary.requireStandby();
    await expectTask(["backup", `${folder}/log.jsonl`], owner);
    await expectTask(["audit"], owner);
    const { stdout, code } = await runTask(["status"], owner);
    assertEquals(code, 0, stdout);
    assertMatch(stdout, /^Commits +replicated: synchronous_standby_names = \S/m);
    assertMatch(stdout, /^Last backup +\S+ \S+, up to position 1, lacks nothing: /m);
    const after = await status();
    assertEquals([after.audit.sound, after.audit.position], [true, 1]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
