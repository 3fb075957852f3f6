/**
 * A fail-over by Patroni and etcd: two members under load, of which the leader is killed. It installs nothing; the
 * Debian packages are patroni and etcd-server.
 *
 *     deno task test:patroni
 */

import { assert, assertEquals, assertLess } from "@std/assert";
import { issueKey } from "../../src/commands/issue_key.ts";
import { audit } from "../../scripts/audit/audit.ts";
import { findPostgres } from "../support/find_postgres.ts";
import { freePort } from "../support/free_port.ts";
import {
  commandLine,
  killTree,
  POSTGRES_VARIABLE,
  signalTree,
  until,
} from "../support/postgres_server.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { readCheckpoint, RETURN_LIMIT_MS, startLoad, untilAdded } from "./failover.ts";

/** Patroni's minimum for the time after which a leader that is silent is replaced. */
const TTL_SECONDS = 20;

const PASSWORD = crypto.randomUUID();

const programs = await findPostgres();
if (programs === undefined) leaveOut("PostgreSQL");
Deno.env.set(POSTGRES_VARIABLE, programs);
for (const program of ["patroni", "etcd"]) if (!isInstalled(program)) leaveOut(program);

const folder = await Deno.makeTempDir({ prefix: "animal-store-patroni-" });
await new Deno.Command("chown", { args: ["postgres:postgres", folder] }).output();
const etcdPort = freePort();
const etcd = startEtcd();
const members = [member("one"), member("two")];
try {
  for (const one of members) await one.start();
  await until(async () => assertEquals((await rolesOf(members)).sort(), ["f", "t"]), "No leader");
  await testFailover(members);
} finally {
  for (const one of members) await one.kill();
  await killTree(etcd);
  await Deno.remove(folder, { recursive: true });
}

async function testFailover(members: Member[]): Promise<void> {
  const [leader] = await leadersOf(members);
  const follower = members.find((one) => one !== leader)!;
  await until(async () => {
    const state = "select 1 from pg_stat_replication where sync_state = 'sync'";
    assertEquals(await leader.sql(state), "1");
  }, "The follower is not synchronous");
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`);
  const address = `postgres://postgres:${PASSWORD}@${hosts}/postgres`;
  const token = await useRealStore(address, async (operator) => {
    return (await issueKey(operator, { label: "patroni" })).token;
  });
  await using first = await ServiceProcess.start(address);
  await using second = await ServiceProcess.start(address);
  const services = [first, second];
  const { load, stop } = startLoad(services, token);
  await sleep(3_000);
  const checkpoint = await readCheckpoint(address);
  await leader.kill();
  await until(
    async () => assertEquals(await follower.sql("select pg_is_in_recovery()"), "f"),
    "Patroni promotes nobody",
  );
  const promotedAt = performance.now();
  const returnsMs = await Promise.all(services.map(async (service) => {
    await untilAdded(service, token, load);
    return Math.round(performance.now() - promotedAt);
  }));
  await sleep(3_000);
  await leader.start();
  await until(
    async () => assertEquals(await leader.sql("select pg_is_in_recovery()"), "t"),
    "The killed leader does not return as a follower",
  );
  await sleep(3_000);
  await stop();
  await useRealStore(address, async (operator) => {
    await load.expectLogged(operator);
    const { sound, faults } = await audit(operator, { checkpoint });
    assert(sound, JSON.stringify(faults));
  });
  for (const service of services) await load.expectServed(service);
  for (const ms of returnsMs) assertLess(ms, RETURN_LIMIT_MS);
  console.log(load.summary, { returnsMs });
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

type Member = ReturnType<typeof member>;

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
      bin_dir: programs,
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
    async sql(statement: string): Promise<string> {
      const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
      const { success, stdout, stderr } = await new Deno.Command(`${programs}/psql`, {
        args: ["-XqAt", "-c", statement, url],
      }).output();
      const decoder = new TextDecoder();
      if (!success) throw new Error(decoder.decode(stderr));
      return decoder.decode(stdout).trim();
    },
  };
}

function address(key: string, port: number) {
  return { [key]: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${port}` };
}

/** Whether each member is in recovery. */
function rolesOf(members: Member[]): Promise<string[]> {
  return Promise.all(members.map((one) => one.sql("select pg_is_in_recovery()")));
}

async function leadersOf(members: Member[]): Promise<Member[]> {
  const roles = await rolesOf(members);
  return members.filter((_, index) => roles[index] === "f");
}

/** Starts a program as the user of the servers. */
function spawn(program: string, args: string[]): Deno.ChildProcess {
  const [command, ...rest] = commandLine(program, args);
  const options = { stdin: "null", stdout: "null", stderr: "null" } as const;
  return new Deno.Command(command, { args: rest, cwd: "/", env: { HOME: folder }, ...options })
    .spawn();
}

function isInstalled(program: string): boolean {
  try {
    return Deno.statSync(`/usr/bin/${program}`).isFile;
  } catch {
    return false;
  }
}

function leaveOut(program: string): never {
  console.log(`Left out the fail-over by Patroni: ${program} is not installed`);
  Deno.exit(0);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
