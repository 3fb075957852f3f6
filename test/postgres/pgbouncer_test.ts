/** PgBouncer between the service and its database. Debian's package has the program outside of the path. */

import { assertEquals, assertRejects } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { StoreRefusedError } from "../../src/eventstore_less/store/store_errors.ts";
import {
  commandLine,
  openDatabase,
  POSTGRES,
  PostgresServer,
  serverOfFile,
} from "../support/postgres_server.ts";
import { until } from "../support/until.ts";
import { expectTask, expectTaskFails } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { programAt } from "../support/store_server.ts";
import { testNeeding } from "../support/test_needing.ts";

const PGBOUNCER = "/usr/sbin/pgbouncer";

const test = testNeeding(POSTGRES.need, programAt(PGBOUNCER));

const server = serverOfFile();

for (const size of [1, 20]) {
  test(`a program refuses PgBouncer in transaction mode with ${size} connections`, async () => {
    const settings = `pool_mode = transaction\ndefault_pool_size = ${size}`;
    await using pooler = await startPgBouncer(settings);
    const open = () => openDatabase(pooler.address);
    await Promise.all(
      Array.from({ length: 30 }, () => assertRejects(open, StoreRefusedError, "PgBouncer")),
    );
    for (const args of [["start"], ["keys", "issue", "--label", "refused"]]) {
      const refusal = /^error: .*: PgBouncer, or another pooler, .*pool_mode = session.*\n$/;
      await expectTaskFails(2, refusal, args, { kvPath: pooler.address });
    }
  });
}

test("the service works with PgBouncer in session mode", async () => {
  await using pooler = await startPgBouncer("pool_mode = session");
  const kvPath = pooler.address;
  const token = (await expectTask(["keys", "issue", "--label", "first"], { kvPath })).trim();
  await using service = await ServiceProcess.start(kvPath);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
});

/** Starts PgBouncer with these settings before a new database. */
async function startPgBouncer(settings: string) {
  const database = await server().createDatabase();
  const folder = await Deno.makeTempDir();
  await PostgresServer.own(folder);
  const [port, file] = [freePort(), `${folder}/pgbouncer.ini`];
  const { port: serverPort, secret } = server();
  await Deno.writeTextFile(
    file,
    `[databases]
${database} = host=127.0.0.1 port=${serverPort} user=operator password=${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
${settings}
`,
  );
  const [program, ...args] = commandLine(PGBOUNCER, ["--quiet", file]);
  const process = new Deno.Command(program, { args, stdout: "null", stderr: "null" }).spawn();
  await until(async () => (await Deno.connect({ hostname: "127.0.0.1", port })).close());
  return {
    address: server().url(database, { ports: [port] }),
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await process.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
