import { systemRuntime } from "eventstore-less/startup";
import { globSync } from "node:fs";
import { dirname } from "node:path";
import { GUARD_KEYS } from "../../src/eventstore_less/keyspace.ts";
import type { PostgresSettings } from "../../src/eventstore_less/store/postgres/database_url.ts";
import {
  type DatabaseOptions,
  PostgresStore,
} from "../../src/eventstore_less/store/postgres/postgres_store.ts";
import { settingsOf } from "./real_store.ts";
import { isWanted, StoreServer, type StoreServers } from "./store_server.ts";
import { expectDone } from "./third_party_tools.ts";
import { HANG_LIMIT_MS, until } from "./until.ts";

/** The program of each version of Debian's package. It is not in the path. */
const PROGRAMS_OF_DEBIAN = "/usr/lib/postgresql/*/bin/initdb";

/** The folder of the newest installed server's programs; `undefined` if none is installed. */
export function programFolder(): string | undefined {
  const programs = globSync(PROGRAMS_OF_DEBIAN).sort(
    new Intl.Collator("en", { numeric: true }).compare,
  );
  if (programs.length > 0) return dirname(programs.at(-1)!);
  try {
    const { stdout } = new Deno.Command("pg_config", { args: ["--bindir"] }).outputSync();
    return new TextDecoder().decode(stdout).trim();
  } catch {
    return undefined;
  }
}

/** The superuser, who owns every database that {@linkcode PostgresServer.createDatabase} makes. */
const USER = "operator";

/** Settings of every server. A killed process loses nothing that it has written, so no test needs `fsync`. */
const SETTINGS = {
  fsync: "off",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "60",
  shared_buffers: "64MB",
  log_min_messages: "panic",
  wal_keep_size: "64MB",
  wal_receiver_status_interval: "1s",
};

/** A real PostgreSQL server on loopback, in a temporary folder. */
export class PostgresServer extends StoreServer {
  readonly env = {};
  #settings: Record<string, string>;
  #databases = 0;

  private constructor(folder: string, settings: Record<string, string>, secret?: string) {
    super(folder, secret);
    this.#settings = settings;
  }

  /** Starts a server without databases. */
  static async start(settings: Record<string, string> = {}): Promise<PostgresServer> {
    const folder = await makeFolder();
    const server = new PostgresServer(folder, settings);
    const passwordFile = `${folder}/password`;
    await Deno.writeTextFile(passwordFile, server.secret);
    await runProgram("initdb", [
      ...["--pgdata", server.#data, "--username", USER, "--pwfile", passwordFile],
      ...["--auth", "scram-sha-256", "--no-sync", "--encoding", "UTF8", "--locale", "C.UTF-8"],
    ]);
    const rule = "host replication all 127.0.0.1/32 scram-sha-256\n";
    await Deno.writeTextFile(`${server.#data}/pg_hba.conf`, rule, { append: true });
    await server.start();
    return server;
  }

  /** Starts a standby. It is a synchronous one if the primary's `synchronous_standby_names` names it. */
  static async standbyOf(
    primary: PostgresServer,
    settings: Record<string, string> = {},
  ): Promise<PostgresServer> {
    const all = { ...primary.#settings, ...settings };
    const standby = new PostgresServer(await makeFolder(), all, primary.secret);
    await standby.follow(primary);
    return standby;
  }

  /** The URL of a database, on this server unless other ports are given. */
  url(
    database: string,
    { user = USER, password = this.secret, ports = [this.port], query = "" } = {},
  ): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`);
    return `postgres://${user}:${password}@${hosts}/${database}${query}`;
  }

  wrongSecret() {
    const host = `127.0.0.1:${this.port}`;
    const message = `Cannot open the database pets_1 on ${host} (DATABASE_URL): ` +
      `${host}: it refuses the password of the role ${USER}`;
    return { address: this.url("pets_1", { password: "wrong" }), env: {}, message };
  }

  /** The URL of the database that was created first. */
  addressAt(port: number): string {
    return this.url("pets_1", { ports: [port] });
  }

  /** Creates an empty database, and resolves to its name. */
  async createDatabase(): Promise<string> {
    const name = `pets_${++this.#databases}`;
    await this.sql(`create database ${name}`);
    return name;
  }

  /** Runs statements as the superuser, and resolves to the values of their rows. */
  async sql(statements: string, database = "postgres"): Promise<string> {
    const args = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statements];
    return await runProgram("psql", [...args, this.url(database)]);
  }

  async start(): Promise<void> {
    const settings = { ...SETTINGS, port: String(this.port), ...this.#settings };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const [program, ...args] = commandLine("postgres", ["-D", this.#data, ...flags]);
    this.spawn(program, args);
    await until(() => this.sql("select 1"), "The server does not answer");
  }

  /** Replaces the data with a copy of the primary's, and starts as its standby. */
  async follow(primary: PostgresServer): Promise<void> {
    await Deno.remove(this.#data, { recursive: true }).catch(() => {});
    await runProgram("pg_basebackup", [
      ...["--pgdata", this.#data, "--dbname", primary.url("postgres")],
      ...["--checkpoint", "fast", "--wal-method", "stream", "--write-recovery-conf", "--no-sync"],
    ]);
    await this.start();
    const streams = "select 1 from pg_stat_replication where state = 'streaming'";
    await until(async () => await primary.sql(streams) !== "", "The standby does not follow");
  }

  /** Refuses connections over TCP, except those of a type of pg_hba.conf. */
  async allowOnly(type: "hostssl"): Promise<void> {
    await Deno.writeTextFile(`${this.#data}/pg_hba.conf`, `${type} all all all scram-sha-256\n`);
    await this.sql("select pg_reload_conf()");
  }

  /** Lets the user of this process connect over a Unix socket, as the role of the same name, and nobody else there. */
  async allowPeer(user: string): Promise<void> {
    const rules = await Deno.readTextFile(`${this.#data}/pg_hba.conf`);
    const local = `local all ${user} peer\nlocal all all reject\n`;
    await Deno.writeTextFile(`${this.#data}/pg_hba.conf`, local + rules);
    await this.sql("select pg_reload_conf()");
  }

  /** Makes the user of the servers the owner of a file or folder. */
  static async own(path: string): Promise<void> {
    if (Deno.uid() === 0) await expectDone("chown", ["postgres:postgres", path]);
  }

  /** Makes every commit wait for a standby that follows this server. */
  async requireStandby(): Promise<void> {
    await this.#setStandbyNames("*");
    const synchronous = "select 1 from pg_stat_replication where sync_state = 'sync'";
    await until(async () => await this.sql(synchronous) !== "", "The standby is not synchronous");
  }

  /** Makes a standby the primary. It has no standby of its own yet, so its commits wait for none. */
  async promote(): Promise<void> {
    await this.#setStandbyNames("");
    await this.sql("select pg_promote()");
  }

  async #setStandbyNames(names: string): Promise<void> {
    await this.sql(`alter system set synchronous_standby_names = '${names}'`);
    await this.sql("select pg_reload_conf()");
  }

  get #data(): string {
    return `${this.folder}/data`;
  }
}

export const POSTGRES: StoreServers = {
  name: "PostgreSQL",
  need: isWanted("TEST_POSTGRES")
    ? { name: "the programs of PostgreSQL", isMet: programFolder() !== undefined }
    : { name: "TEST_POSTGRES=1", isMet: false },
  // A cut ends both connections of an instance, and all calls on them.
  cutShare: 0.01,
  async start() {
    const server = await PostgresServer.start();
    await server.createDatabase();
    return server;
  },
};

/** Starts a server before the tests of a file, and ends it after them. */
export function serverOfFile(): () => PostgresServer {
  let server: PostgresServer;
  if (POSTGRES.need.isMet) {
    Deno.test.beforeAll(async () => void (server = await PostgresServer.start()));
    Deno.test.afterAll(() => server[Symbol.asyncDispose]());
  }
  return () => server;
}

/** Keeps a transaction that has read a table open, with the snapshot of that moment, until it is disposed of. */
export async function holdSnapshot(
  server: PostgresServer,
  database: string,
  table = "pg_class",
): Promise<AsyncDisposable> {
  const holding = server.sql(
    `begin isolation level repeatable read; select 1 from ${table} limit 1; select pg_sleep(3600)`,
    database,
  ).catch(() => {});
  const process = `from pg_stat_activity where wait_event = 'PgSleep' and datname = '${database}'`;
  const isHeld = async () => await server.sql(`select 1 ${process}`) !== "";
  await until(isHeld, "The transaction does not begin");
  return {
    async [Symbol.asyncDispose]() {
      await server.sql(`select pg_terminate_backend(pid) ${process}`);
      await holding;
    },
  };
}

type OpenOptions = Partial<DatabaseOptions> & { signal?: AbortSignal };

export function openDatabase(
  url: string,
  settings: Partial<PostgresSettings> = {},
  { signal = AbortSignal.timeout(HANG_LIMIT_MS), ...options }: OpenOptions = {},
): Promise<PostgresStore> {
  const all = {
    program: "animal-store",
    create: true,
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
    ...options,
  };
  return PostgresStore.open({ ...settingsOf(url), ...settings }, all, signal);
}

/** Makes a folder that the user of the servers can write. */
async function makeFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "animal-store-postgres-" });
  await PostgresServer.own(folder);
  return folder;
}

/** The command line of a program of PostgreSQL, or at a path. Root runs it as the user of the Debian package. */
export function commandLine(program: string, args: string[]): string[] {
  const own = [program.startsWith("/") ? program : `${programFolder()}/${program}`, ...args];
  const user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"];
  return Deno.uid() === 0 ? ["setpriv", ...user, ...own] : own;
}

/** Runs a program of PostgreSQL that must succeed, and resolves to its standard output. */
async function runProgram(program: string, args: string[]): Promise<string> {
  const [command, ...rest] = commandLine(program, args);
  return (await expectDone(command, rest, { cwd: "/" })).trim();
}
