/** A server on a Unix socket, which knows its peer: no password, and no user in the address. */

import { userInfo } from "node:os";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { POSTGRES, PostgresServer } from "../support/postgres_server.ts";
import { expectTask, expectTaskFails } from "../support/run_task.ts";
import { AS_TASK, ServiceProcess, SUPERVISED } from "../support/service_process.ts";
import { testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";

const test = testNeeding(POSTGRES.need);

test("the service and its commands use a Unix socket with peer authentication, however the address names it", async () => {
  const folder = await Deno.makeTempDir();
  await PostgresServer.own(folder);
  await using server = await PostgresServer.start({ unix_socket_directories: folder });
  const database = await server.createDatabase();
  const user = userInfo().username;
  await server.sql(`create role "${user}" login; alter database ${database} owner to "${user}"`);
  await server.allowPeer(user);
  const path = `${folder}/.s.PGSQL.${server.port}`;
  assert((await Deno.stat(path)).isSocket);

  const encoded = encodeURIComponent(folder);
  const addresses = [
    `postgresql:///${database}?host=${folder}&port=${server.port}`,
    `postgresql://${encoded}:${server.port}/${database}`,
    `postgres://${encodeURIComponent(user)}@${encoded}:${server.port}/${database}`,
    // As in libpq, a Unix socket has no TLS.
    `postgres://${user}@/${database}?host=${encoded}&port=${server.port}&sslmode=verify-full`,
  ];
  const [address] = addresses;
  const token = (await expectTask(["keys", "issue", "--label", "shop"], { kvPath: address }))
    .trim();
  for (const kvPath of addresses) {
    assertMatch(await expectTask(["keys", "list"], { kvPath }), /shop/);
  }

  for (const PROCESSES of ["1", "2"]) {
    const command = PROCESSES === "1" ? AS_TASK : SUPERVISED;
    const env = { PROCESSES, NEW_STORE: "" };
    await using service = await ServiceProcess.start(address, env, command);
    assertEquals(JSON.parse(service.lines[0]).store, `database ${database} on ${path}`);
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
    await until(() => service.lines.join().split('"listening"').length - 1 === Number(PROCESSES));
    assertEquals(await service.stop(), 0);
  }
  assertMatch(await expectTask(["audit"], { kvPath: address }), /^Sound: 3 events, 2 pets\.$/m);

  const fails = (kvPath: string, reason: string) =>
    expectTaskFails(2, RegExp(`^error: Cannot open [^\n]*${reason}[^\n]*\n$`), ["log"], { kvPath });
  const other = address.replace("///", "//operator@/");
  await fails(other, 'pg_hba.conf rejects connection for host "\\[local\\]", user "operator"');
  const missing = address.replace(folder, `${folder}/missing`);
  await fails(missing, `it does not answer: ${folder}/missing/.s.PGSQL.${server.port}: `);
  await Deno.remove(folder, { recursive: true });
});
