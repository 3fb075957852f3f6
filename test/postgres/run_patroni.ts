/**
 * A fail-over by Patroni and etcd: two members under load, of which the leader is killed. It installs nothing; the
 * Debian packages are patroni and etcd-server.
 *
 *     deno task test:patroni
 */

import { assertEquals } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import {
  commandLine,
  findPostgres,
  PostgresServer,
  runProgram,
} from "../support/postgres_server.ts";
import { isInstalled, killTree, signalTree } from "../support/store_server.ts";
import { until } from "../support/until.ts";
import { runFailover } from "./failover.ts";

/** Patroni's minimum for the time after which a leader that is silent is replaced. */
const TTL_SECONDS = 20;

const IS_STANDBY = "select pg_is_in_recovery()";

const PASSWORD = crypto.randomUUID();

for (const program of [`${findPostgres()}/initdb`, "/usr/bin/patroni", "/usr/bin/etcd"]) {
  if (isInstalled(program)) continue;
  console.log(`Left out the fail-over by Patroni: there is no ${program}`);
  Deno.exit(0);
}
const folder = await Deno.makeTempDir({ prefix: "animal-store-patroni-" });
await PostgresServer.own(folder);
const etcdPort = freePort();
const etcd = startEtcd();
const members = [member("one"), member("two")];
try {
  for (const one of members) await one.start();
  await until(async () => {
    const states = await Promise.all(members.map((one) => one.sql(IS_STANDBY)));
    assertEquals(states.sort(), ["f", "t"]);
  }, "No member became the leader");
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`);
  let [leader, follower] = members;
  if (await leader.sql(IS_STANDBY) === "t") [leader, follower] = [follower, leader];
  const repair = () =>
    until(async () => {
      const state = "select 1 from pg_stat_replication where sync_state = 'sync'";
      assertEquals(await leader.sql(state), "1");
    }, "The follower is not synchronous");
  await repair();
  const outcome = await runFailover({
    address: `postgres://postgres:${PASSWORD}@${hosts}/postgres`,
    async failOver() {
      await leader.kill();
      [leader, follower] = [follower, leader];
      const isPromoted = async () => assertEquals(await leader.sql(IS_STANDBY), "f");
      await until(isPromoted, "Patroni promotes nobody");
    },
    async repair() {
      await follower.start();
      await repair();
    },
  }, 1);
  console.log(outcome);
} finally {
  for (const one of members) await one.kill();
  await killTree(etcd);
  await Deno.remove(folder, { recursive: true });
}

function startEtcd(): Deno.ChildProcess {
  const peer = `http://127.0.0.1:${freePort()}`;
  const client = `http://127.0.0.1:${etcdPort}`;
  return spawn(
    "/usr/bin/etcd",
    [
      ["--data-dir", `${folder}/etcd`],
      ["--listen-client-urls", client, "--advertise-client-urls", client],
      ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
      ["--initial-cluster", `default=${peer}`],
    ].flat(),
  );
}

function member(name: string) {
  const port = freePort();
  const file = `${folder}/${name}.yml`;
  const account = (username: string) => ({ username, password: PASSWORD });
  // JSON is YAML.
  const config = JSON.stringify({
    scope: "animal-store",
    name,
    restapi: address("listen", freePort()),
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: { ttl: TTL_SECONDS, loop_wait: 1, retry_timeout: 3, synchronous_mode: true },
      initdb: ["data-checksums", { encoding: "UTF8" }],
    },
    postgresql: {
      ...address("listen", port),
      bin_dir: findPostgres(),
      data_dir: `${folder}/${name}`,
      pgpass: `${folder}/${name}.pgpass`,
      // A leader that returns has records that nobody else has.
      remove_data_directory_on_diverged_timelines: true,
      authentication: { superuser: account("postgres"), replication: account("replicator") },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        "local all all trust",
        "host all all 127.0.0.1/32 scram-sha-256",
        "host replication all 127.0.0.1/32 scram-sha-256",
      ],
    },
  });
  let process: Deno.ChildProcess;
  return {
    port,
    async start() {
      await Deno.writeTextFile(file, config);
      process = spawn("/usr/bin/patroni", [file]);
    },
    /** Kills Patroni, and PostgreSQL, which is not its child. */
    async kill() {
      await killTree(process);
      const file = await Deno.readTextFile(`${folder}/${name}/postmaster.pid`).catch(() => "");
      const pid = Number(file.split("\n")[0]);
      if (pid > 0) signalTree(pid, "SIGKILL");
    },
    sql(statement: string): Promise<string> {
      const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
      return runProgram("psql", ["-XqAt", "-c", statement, url]);
    },
  };
}

function address(key: string, port: number) {
  return { [key]: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${port}` };
}

/** Starts a program as the user of the servers. */
function spawn(program: string, args: string[]): Deno.ChildProcess {
  const [command, ...rest] = commandLine(program, args);
  const options = { stdin: "null", stdout: "null", stderr: "null" } as const;
  return new Deno.Command(command, { args: rest, cwd: "/", env: { HOME: folder }, ...options })
    .spawn();
}
