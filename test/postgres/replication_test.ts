/** Whether commits wait for a standby, and how a service says so. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { POSTGRES, PostgresServer } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/with_project_copy.ts";

const test = testNeeding(POSTGRES.need);

test("a service on several servers warns and has a gauge if commits wait for no standby", async () => {
  await using primary = await PostgresServer.start();
  await using standby = await PostgresServer.standbyOf(primary);
  await primary.sql("create role pets login password 'secret'");
  const database = await primary.createDatabase();
  await primary.sql(`alter database ${database} owner to pets`);
  const user = { user: "pets", password: "secret" };
  const several = primary.url(database, { ...user, ports: [primary.port, standby.port] });
  const metricsPort = freePort();
  const metrics = { METRICS_PORT: String(metricsPort) };
  const gauge = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return /^animal_store_commits_replicated (.*)$/m.exec(text)?.[1];
  };
  const becomes = (value: string) =>
    until(async () => assertEquals(await gauge(), value), `The gauge is not ${value}`);
  {
    await using service = await ServiceProcess.start(several, metrics);
    const warning = await until(() => warningOf(service) ?? false, "It does not warn");
    assertEquals(warning.level, "warn");
    assertMatch(warning.remedy, /set synchronous_standby_names/);
    assert(!JSON.stringify(warning).includes("secret"));
    await becomes("0");
    await primary.requireStandby();
    await becomes("1");
  }
  {
    await using service = await ServiceProcess.start(several, metrics);
    await becomes("1");
    assertEquals(await service.stop(), 0);
    assertEquals(warningOf(service), undefined);
  }
  await using service = await ServiceProcess.start(primary.url(database, user), metrics);
  assertEquals(await gauge(), undefined);
  assertEquals(await service.stop(), 0);
  assertEquals(warningOf(service), undefined);
});

test("with the two standbys of the manual, the loss of one loses nothing, and that of both stops additions", async () => {
  const manual = await Deno.readTextFile(`${ROOT}scripts/deploy/README.md`);
  const [, setting] = /^(alter system set synchronous_standby_names = .*;)$/m.exec(manual)!;
  await using primary = await PostgresServer.start();
  await using b = await PostgresServer.standbyOf(primary, { cluster_name: "b" });
  await using c = await PostgresServer.standbyOf(primary, { cluster_name: "c" });
  await primary.sql(setting);
  await primary.sql("select pg_reload_conf()");
  const database = await primary.createDatabase();
  await primary.sql("create role pets login password 'secret'");
  await primary.sql(`alter database ${database} owner to pets`);
  const user = { user: "pets", password: "secret" };
  const address = primary.url(database, { ...user, ports: [primary.port, b.port, c.port] });
  const token = (await expectTask(ISSUE, { kvPath: address })).trim();
  await using service = await ServiceProcess.start(address);
  const add = () => service.add({ name: "Rex", categoryId: 1 }, token);
  assertEquals(await add(), 201);
  await b.kill();
  assertEquals(await add(), 201);
  await c.kill();
  assertEquals(await add(), 503);
  // The role of the service may not see more of a standby than its name.
  const state = "synchronous_standby_names = ANY 1 (b, c), none connected";
  const waits = new RegExp(`it waits for a standby: ${RegExp.escape(state)}`);
  await until(async () => waits.test(await readiness(service)), "/readyz does not say it");
  const away = service.lines.findLast((line) => line.includes('"store_away"'));
  assertMatch(away!, waits);
  await b.start();
  await until(async () => assertEquals(await add(), 201), "It does not continue");
});

test("the steps of the runbook promote a standby by hand, and the service continues with all that it has acknowledged", async () => {
  const runbook = await Deno.readTextFile(`${ROOT}scripts/runbook.md`);
  const [, chapter] = /^## Promote a standby by hand\n([^]*)$/m.exec(runbook)!;
  const blocks = Array.from(chapter.matchAll(/^ *```sql\n([^]*?)^ *```$/gm), ([, block]) => block);
  const [position, promotion, following] = blocks.map((block) => block.trim().split(/\n */));
  await using a = await PostgresServer.start();
  const standbys = [
    { name: "b", server: await PostgresServer.standbyOf(a, { cluster_name: "b" }) },
    { name: "c", server: await PostgresServer.standbyOf(a, { cluster_name: "c" }) },
  ];
  await using b = standbys[0].server;
  await using c = standbys[1].server;
  await a.sql("alter system set synchronous_standby_names = 'ANY 1 (b, c)'");
  await a.sql("select pg_reload_conf()");
  const database = await a.createDatabase();
  const address = a.url(database, { ports: [a.port, b.port, c.port] });
  const token = (await expectTask(ISSUE, { kvPath: address })).trim();
  await using service = await ServiceProcess.start(address);
  const add = () => service.add({ name: "Rex", categoryId: 1 }, token);
  for (let count = 0; count < 10; count++) assertEquals(await add(), 201);
  await a.kill();

  const positions = await Promise.all(standbys.map(({ server }) => server.sql(position.join(" "))));
  const isLater = await b.sql(`select '${positions[1].trim()}'::pg_lsn > '${positions[0].trim()}'`);
  const [next, other] = isLater.trim() === "t" ? standbys.toReversed() : standbys;
  for (const statement of promotion) {
    await next.server.sql(statement.replace("(c)", `(${other.name})`));
  }
  const { username, password } = new URL(next.server.url(database));
  const place = `host=127.0.0.1 port=${next.server.port} user=${username} password=${password}`;
  for (const statement of following) {
    await other.server.sql(statement.replace("host=b.example port=5432 user=replicator", place));
  }
  await until(async () => assertEquals(await add(), 201), "It does not continue");
  assertEquals(await service.stop(), 0);
  const audited = await expectTask(["audit"], { kvPath: next.server.url(database) });
  const [, pets] = /^Sound: \d+ events, (\d+) pets\.$/m.exec(audited)!;
  assert(Number(pets) >= 11, audited);
});

async function readiness(service: ServiceProcess): Promise<string> {
  return await (await service.send("/readyz", "")).text();
}

const ISSUE = ["keys", "issue", "--label", "first"];

function warningOf({ lines }: ServiceProcess) {
  const line = lines.find((line) => line.includes('"commits_not_replicated"'));
  return line === undefined ? undefined : JSON.parse(line);
}
