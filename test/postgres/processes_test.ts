import { assertEquals } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
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
