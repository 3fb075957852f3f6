import { assertEquals, assertMatch } from "@std/assert";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { runTask } from "../support/run_task.ts";
import { testIf } from "../support/test_if.ts";

const test = testIf(!POSTGRES.ignore);

const server = serverOfFile();

test("audit reports records that are set to expire, but not idempotency records", async () => {
  const database = await server().createDatabase();
  const kvPath = server().url(database);
  await runTask(["keys", "issue", "--label", "first"], { kvPath });
  const sound = await runTask(["audit"], { kvPath });
  assertEquals(sound.code, 0, sound.stdout);
  assertMatch(sound.stdout, /^Sound: 1 events/);
  assertEquals(sound.stdout.includes("expire"), false);
  await server().sql(
    "update animal_store.records set expires_at = '2031-01-02T03:04:05Z'",
    database,
  );
  const { code, stdout } = await runTask(["audit"], { kvPath });
  assertEquals(code, 1);
  assertMatch(stdout, /Record \["~log",1\] is set to expire at 2031-01-02T03:04:05\.000Z/);
  assertMatch(stdout, /Record \["head"\] is set to expire/);
});
