import { assertEquals } from "@std/assert";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { until } from "../support/until.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

test("a password that is changed in the server and in the PGPASSFILE needs no restart", async () => {
  await server().sql("create role pets login password 'first'");
  const database = await server().createDatabase();
  await server().sql(`alter database ${database} owner to pets`);
  const address = `postgres://pets@127.0.0.1:${server().port}/${database}`;
  const passfile = await Deno.makeTempFile();
  const writePassword = (password: string) =>
    Deno.writeTextFile(passfile, `127.0.0.1:${server().port}:${database}:pets:${password}\n`);
  await writePassword("first");
  const env = { PGPASSFILE: passfile };
  const issue = ["keys", "issue", "--label", "first"];
  const token = (await expectTask(issue, { kvPath: address, env })).trim();
  await using service = await ServiceProcess.start(address, env);
  const add = () => service.add({ name: "Rex", categoryId: 1 }, token);
  const becomesReady = (status: number) =>
    until(async () => {
      const response = await fetch(`${service.address}/readyz`);
      await response.body?.cancel();
      assertEquals(response.status, status);
    }, `/readyz does not get ${status}`);
  assertEquals(await add(), 201);
  await server().sql("alter role pets password 'second'");
  // The connections that are open stay open.
  assertEquals(await add(), 201);
  await server().sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'pets'",
  );
  await becomesReady(503);
  await writePassword("second");
  await becomesReady(200);
  assertEquals(await add(), 201);
  assertEquals(await service.stop(), 0);
  await Deno.remove(passfile);
});
