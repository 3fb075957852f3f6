import { assertEquals } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectTaskFails } from "../support/run_task.ts";
import { ServiceProcess, SUPERVISED } from "../support/service_process.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { until } from "../support/until.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

test("of several processes, the first one answers 503 while the database is away at the start, and the others follow", async () => {
  const database = await server().createDatabase();
  let isAway = true;
  const closedPort = freePort();
  await using proxy = new TcpProxy(() => isAway ? closedPort : server().port);
  const url = server().url(database, { ports: [proxy.port] });
  await using service = await ServiceProcess.start(url, { PROCESSES: "2" }, SUPERVISED);
  const processesOf = (event: string) =>
    service.lines.map((line) => JSON.parse(line)).filter((line) => line.event === event)
      .map((line) => line.process);
  const probe = async () => {
    const response = await fetch(`${service.address}/readyz`, { headers: { connection: "close" } });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await probe(), 503);
  assertEquals(processesOf("listening"), [1]);
  isAway = false;
  await until(() => processesOf("listening").length === 2);
  assertEquals([processesOf("store_opened"), processesOf("listening")], [[1], [1, 2]]);
  await until(async () => await probe() === 200);
  for (let count = 0; count < 30; count++) assertEquals(await probe(), 200);
  assertEquals(await service.stop(), 0);
});

test("several instances that start at once on a new database make one store with NEW_STORE=make, and otherwise none", async () => {
  const database = await server().createDatabase();
  const url = server().url(database);
  const schemas = `select count(*) from pg_namespace where nspname = 'animal_store'`;
  const refused = { kvPath: url, env: { PORT: "0", NEW_STORE: "" } };
  const line = /^error: Cannot open the database [^\n]*: there is no log in it yet; [^\n]*\n$/;
  const fails = () => expectTaskFails(2, line, ["start"], refused);
  await Promise.all([fails(), fails()]);
  assertEquals(await server().sql(schemas, database), "0");

  const services = await Promise.all(Array.from({ length: 3 }, () => ServiceProcess.start(url)));
  for (const service of services) {
    const probe = async () => (await service.send("/readyz", "")).status === 200;
    await until(probe, "An instance is not ready");
    assertEquals(await service.stop(), 0);
  }
  const made = services.filter(({ lines }) => lines.join("\n").includes('"store_made"'));
  assertEquals(made.length, 1);
});
