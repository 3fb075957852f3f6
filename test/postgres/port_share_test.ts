import { assertEquals } from "@std/assert";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectTask } from "../support/run_task.ts";
import { ServiceProcess, SUPERVISED } from "../support/service_process.ts";
import { until } from "../support/until.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

test("a process whose connections are refused leaves the port to the other one, until it is ready again", async () => {
  const database = await server().createDatabase();
  await server().sql(
    `create role shop login password 'x'; grant all on database ${database} to shop`,
  );
  const url = server().url(database, { user: "shop", password: "x" });
  await expectTask(["keys", "issue", "--label", "first"], { kvPath: url });
  await using service = await ServiceProcess.start(url, { PROCESSES: "2" }, SUPERVISED);
  const countOf = (event: string) =>
    service.lines.filter((line) => JSON.parse(line).event === event).length;
  await until(() => countOf("listening") === 2);
  const probe = async () => {
    const response = await fetch(`${service.address}/readyz`, { headers: { connection: "close" } });
    await response.body?.cancel();
    return response.status;
  };

  for (let round = 1; round <= 2; round++) {
    // The role has four connections. The process that loses one closes its other one, and may open none.
    await server().sql("alter role shop connection limit 2");
    await server().sql(
      "select pg_terminate_backend(min(pid)) from pg_stat_activity where usename = 'shop'",
    );
    await until(() => countOf("not_listening") === round);
    for (let count = 0; count < 50; count++) assertEquals(await probe(), 200);
    if (round === 2) break;
    await server().sql("alter role shop connection limit 4");
    await until(() => countOf("listening") === 2 + round);
    for (let count = 0; count < 50; count++) assertEquals(await probe(), 200);
  }
  // The process that waits ends, too.
  assertEquals(await service.stop(), 0);
});
