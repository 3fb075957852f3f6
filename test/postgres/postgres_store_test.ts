import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { GUARD_KEYS, HEAD_KEY, SOME_IDEMPOTENCY_KEY } from "../../src/keyspace.ts";
import { encodeKey } from "../../src/store/key_encoding.ts";
import { expiringRecordsOf } from "../../src/store/read_expiring_records.ts";
import { CREATE_SCHEMA, grantTo } from "../../src/store/postgres/schema.ts";
import { PostgresStore } from "../../src/store/postgres/postgres_store.ts";
import type { Key, Store } from "../../src/store/store.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreFullError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../src/store/store_errors.ts";
import { parseDatabaseUrl, type PostgresSettings } from "../../src/store/postgres/database_url.ts";
import {
  openPostgresStore,
  POSTGRES,
  PostgresServer,
  serverOfFile,
} from "../support/postgres_server.ts";
import { until } from "../support/store_server.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { freePort } from "../support/free_port.ts";
import { testStoreContract } from "../support/store_contract.ts";
import { testIf } from "../support/test_if.ts";

const { ignore } = POSTGRES;
const test = testIf(!ignore);

const server = serverOfFile();

for (const strictReads of [false, true]) {
  testStoreContract({
    name: `PostgresStore${strictReads ? " with strict reads" : ""}`,
    ignore,
    open: async () => ({ store: await openPostgresStore(server(), { strictReads }) }),
  });
}

test("get() of the head waits for the synchronous standby with strict reads, else two seconds after the last commit", async () => {
  await using primary = await PostgresServer.start();
  const standby = await PostgresServer.standbyOf(primary);
  await primary.requireStandby();
  let passedMs = 0;
  const runtime = { ...systemRuntime, monotonicNow: () => passedMs };
  const plain = await openPostgresStore(primary, {}, runtime);
  const strict = await openPostgresStore(primary, { strictReads: true }, runtime);
  for (const store of [plain, strict]) await put(store, HEAD_KEY, "head");
  // A read that proves the primary counts like a commit.
  passedMs = 2_000;
  for (const store of [plain, strict]) await store.get(HEAD_KEY);
  await standby[Symbol.asyncDispose]();
  passedMs = 3_999;
  assertEquals((await plain.get(HEAD_KEY))?.value, "head");
  const isLate = (store: Store) =>
    Promise.race([store.get(HEAD_KEY).catch(() => "closed"), after(500)]);
  assertEquals(await isLate(strict), "late");
  passedMs = 4_000;
  assertEquals(await isLate(plain), "late");
  for (const store of [plain, strict]) store.close();
});

test("open() passes over standbys, and over a primary whose synchronous standby does not answer", async () => {
  await using primary = await PostgresServer.start();
  await using standby = await PostgresServer.standbyOf(primary);
  await primary.requireStandby();
  const database = await primary.createDatabase();
  await until(() => standby.sql("select 1", database), "The standby lags");
  const open = (ports: number[]) => openStore(primary.url(database, { ports }));
  const expectAway = async (ports: number[], reason: string) => {
    const { message } = await assertRejects(() => open(ports), StoreAwayError);
    assert(message.startsWith("it does not answer: ") && message.includes(reason), message);
  };
  await expectAway([standby.port], "it is a standby");
  (await open([standby.port, primary.port])).close();
  await standby.promote();
  await expectAway([primary.port], "its synchronous standby does not answer");
  const store = await open([primary.port, standby.port]);
  await put(store, ["key"], "value");
  store.close();
});

test("open() leaves no process on a server whose synchronous standby does not answer", async () => {
  await using primary = await PostgresServer.start();
  const standby = await PostgresServer.standbyOf(primary);
  const database = await primary.createDatabase();
  await primary.requireStandby();
  await standby[Symbol.asyncDispose]();
  const url = primary.url(database);
  await assertRejects(() => openStore(url), StoreAwayError, "does not answer");
  await assertRejects(() => openStore(url, AbortSignal.timeout(500)), Error);
  const count = "select count(*) from pg_stat_activity where application_name = 'animal-store'";
  await waitFor(async () => await primary.sql(count) === "0");
});

test("open() rejects if two connections to one address reach different servers", async () => {
  await using primary = await PostgresServer.start();
  await using other = await PostgresServer.standbyOf(primary);
  const database = await primary.createDatabase();
  await until(() => other.sql("select 1", database), "The standby lags");
  await other.promote();
  await until(() => other.sql("create temporary table t ()"), "It is not promoted");
  const ports = [primary.port, other.port];
  let connections = 0;
  await using proxy = new TcpProxy(() => ports[connections++ % 2]);
  const url = primary.url(database, { ports: [proxy.port], query: "?sslmode=disable" });
  await assertRejects(() => openStore(url), StoreAwayError, "leads to different servers");
});

test("open() ends when its signal aborts while it waits for a lock on the schema", async () => {
  const database = await server().createDatabase();
  const url = server().url(database);
  (await openStore(url)).close();
  const locking = server().sql(
    "begin; lock table animal_store.schema_version in access exclusive mode; select pg_sleep(2)",
    database,
  );
  await after(300);
  const controller = new AbortController();
  const opening = openStore(url, controller.signal).catch((error) => error);
  await waitFor(async () =>
    await server().sql("select 1 from pg_stat_activity where wait_event_type = 'Lock'") !== ""
  );
  controller.abort();
  assert(await Promise.race([opening, after(300)]) instanceof StoreAwayError);
  await locking;
});

test("commit() waits for its standby although the default of the server changed meanwhile", async () => {
  await using primary = await PostgresServer.start();
  const standby = await PostgresServer.standbyOf(primary);
  await primary.requireStandby();
  const store = await openPostgresStore(primary);
  await primary.sql("alter system set synchronous_commit = 'off'");
  await primary.sql("select pg_reload_conf()");
  await standby[Symbol.asyncDispose]();
  const committing = put(store, ["key"], "value").catch((error) => error);
  assertEquals(await Promise.race([committing, after(1_000)]), "late");
  store.close();
  assert(await committing instanceof UnclearOutcomeError);
});

test("open() waits while a host is away, although another one refuses the database", async () => {
  // As a standby does that lags behind.
  const ports = [freePort(), server().port];
  const opening = openStore(server().url("later", { ports }));
  const { message } = await assertRejects(() => opening, StoreAwayError);
  assert(message.includes("there is no database later"), message);
});

test("commit() is unclear if its wait for the standby is cancelled, although the server reports success", async () => {
  await using primary = await PostgresServer.start();
  const standby = await PostgresServer.standbyOf(primary);
  await primary.requireStandby();
  const store = await openPostgresStore(primary);
  await standby[Symbol.asyncDispose]();
  const committing = put(store, ["key"], "value").catch((error) => error);
  const waiting = "select pid from pg_stat_activity where wait_event = 'SyncRep'";
  await waitFor(async () => await primary.sql(waiting) !== "");
  await primary.sql(`select pg_cancel_backend((${waiting}))`);
  const error = await committing;
  assert(error instanceof UnclearOutcomeError, String(error));
  await assertRejects(() => store.get(["key"]), StoreAwayError);
  store.close();
});

test("a warning without a cancelled wait for the standby is ignored", async () => {
  const store = await openPostgresStore(server());
  await server().sql(
    `create function warn() returns trigger language plpgsql as
        $$ begin raise warning 'must be vacuumed'; return new; end $$;
      create trigger warn before insert on animal_store.records
        for each row execute function warn()`,
    await databaseOf(server()),
  );
  await put(store, ["key"], "value");
  await put(store, ["key"], "other");
  store.close();
});

test("a commit for which the database has no space is rejected with StoreFullError", async () => {
  const store = await openPostgresStore(server());
  await server().sql(
    `create function fail() returns trigger language plpgsql as
        $$ begin raise 'could not extend file' using errcode = 'disk_full'; end $$;
      create trigger fail before insert on animal_store.records
        for each row execute function fail()`,
    await databaseOf(server()),
  );
  await assertRejects(() => put(store, ["key"], "value"), StoreFullError);
  store.close();
});

test("open() creates the tables once if several instances start together, also in a schema", async () => {
  for (const statement of ["select 1", "create schema animal_store"]) {
    const database = await server().createDatabase();
    await server().sql(statement, database);
    let created = 0;
    const openOne = () =>
      PostgresStore.open(
        settingsOf(server().url(database)),
        systemRuntime,
        { create: true, guardKeys: GUARD_KEYS, onCreated: () => created++ },
        AbortSignal.timeout(10_000),
      );
    const stores = await Promise.allSettled([1, 2, 3, 4, 5].map(openOne));
    for (const outcome of stores) {
      if (outcome.status === "fulfilled") outcome.value.close();
    }
    const reasons = stores.flatMap((outcome) =>
      outcome.status === "rejected" ? [String(outcome.reason)] : []
    );
    assertEquals([reasons, created], [[], 1]);
  }
});

test("open() types errors alike whatever the language of the server", async () => {
  await server().sql("create role stranger login password 'secret'");
  const database = await server().createDatabase();
  // Translates the severity.
  await using proxy = new TcpProxy(
    () => server().port,
    (text) => text.replaceAll("SERROR\0", "SFEHLE\0"),
  );
  const url = server().url(database, {
    user: "stranger",
    password: "secret",
    ports: [proxy.port],
  });
  await assertRejects(() => openStore(url), StoreRefusedError, "may not create the schema");
});

test("commit() is unclear if its connection ends, and later calls reject at once", async () => {
  await using server = await PostgresServer.start();
  const store = await openPostgresStore(server);
  server.pause();
  const committing = put(store, ["key"], "value").catch((error) => error);
  await after(100);
  await server.kill();
  const error = await committing;
  assert(error instanceof UnclearOutcomeError, String(error));
  await assertRejects(() => put(store, ["key"], "value"), StoreAwayError);
  await assertRejects(() => store.list({ prefix: [] }, { limit: 1 }), StoreAwayError);
  store.close();
});

test("commit() is not applied if it meets a lock", async () => {
  const store = await openPostgresStore(server());
  await put(store, ["key"], "value");
  const database = await databaseOf(server());
  const locking = server().sql(
    "begin; lock table animal_store.records in access exclusive mode; select pg_sleep(2); commit",
    database,
  );
  await after(300);
  await assertRejects(() => put(store, ["key"], "other"), NotAppliedError);
  await locking;
  assertEquals((await store.get(["key"]))?.value, "value");
  store.close();
});

test("a session does not depend on the settings of its role", async () => {
  const settings = {
    statement_timeout: "1ms",
    lock_timeout: "10ms",
    default_transaction_read_only: "on",
    default_transaction_isolation: "serializable",
    synchronous_commit: "off",
    bytea_output: "escape",
    client_encoding: "latin1",
    array_nulls: "off",
  };
  await server().sql("create role other superuser login password 'secret'");
  for (const [name, value] of Object.entries(settings)) {
    await server().sql(`alter role other set ${name} = '${value}'`);
  }
  const store = await openPostgresStore(server(), { user: "other", password: "secret" });
  for (const value of ["Zoë 🐈", new Uint8Array(60_000).fill(200)]) {
    await put(store, ["key"], value);
    assertEquals((await store.get(["key"]))?.value, value);
  }
  store.close();
});

test("a session calls no function of another role, even if the search path of its role begins with it", async () => {
  const database = await server().createDatabase();
  const signatures = [
    "cardinality(value bytea[]) returns integer",
    "count(value bytea) returns bigint",
    "current_setting(name text) returns text",
    "nextval(sequence regclass) returns bigint",
    "now() returns timestamptz",
    "pg_is_in_recovery() returns boolean",
    "set_config(name text, value text, is_local boolean) returns text",
    "statement_timestamp() returns timestamptz",
    "texteq_of_others(one text, other text) returns boolean",
  ];
  for (const signature of signatures) {
    await server().sql(
      `create function public.${signature} language plpgsql as
          $$ begin raise exception 'code of another role'; end $$`,
      database,
    );
  }
  await server().sql(
    `create operator public.= (leftarg = text, rightarg = text, function = texteq_of_others);
      create role visitor superuser login password 'secret';
      alter role visitor set search_path = public, pg_catalog`,
    database,
  );
  const user = { user: "visitor", password: "secret" };
  const settings = settingsOf(server().url(database, user));
  const store = await openStore(server().url(database, user));
  const mutations = [{ type: "set" as const, key: ["key"], value: "", expireIn: 60_000 }];
  assertNotEquals(await store.commit({ checks: [], mutations }), null);
  assertEquals((await store.get(["key"]))?.value, "");
  assertEquals((await store.list({ prefix: [] }, { limit: 2 })).length, 1);
  const location = { kind: "postgres", settings } as const;
  const read = expiringRecordsOf(location, systemRuntime, SOME_IDEMPOTENCY_KEY)!;
  const expiring = await Array.fromAsync(read());
  assertEquals(expiring.map(({ key }) => key), [["key"]]);
  store.close();
});

test("no version repeats if the sequence of versions falls behind, before open() or after it", async () => {
  await server().sql("create role limited login password 'secret'");
  const database = await server().createDatabase();
  await server().sql(CREATE_SCHEMA + grantTo("limited"), database);
  const url = server().url(database, { user: "limited", password: "secret" });
  let store = await openStore(url);
  const next = async (versionstamp: string | null) => {
    const mutations = [{ type: "set" as const, key: HEAD_KEY, value: "" }];
    return await store.commit({ checks: [{ key: HEAD_KEY, versionstamp }], mutations });
  };
  let last = await next(null);
  for (let times = 0; times < 5; times++) last = await next(last);
  // A dump without the value of the sequence has 1; logical replication leaves any value.
  for (const value of [1, 5, 6]) {
    await server().sql(`select setval('animal_store.versions', ${value}, false)`, database);
    const stale = await next(last).catch((error) => error);
    assert(stale instanceof NotAppliedError, String(stale));
    const after = await next(last);
    assert(after !== null && after > last!, `${after} follows ${last}`);
    store.close();
    await server().sql(`select setval('animal_store.versions', ${value}, false)`, database);
    store = await openStore(url);
    last = await next(after);
    assert(last !== null && last > after, `${last} follows ${after}`);
  }
  store.close();
});

test("open() refuses a sequence far behind the records, and its advice works word for word", async () => {
  const database = await server().createDatabase();
  const url = server().url(database);
  (await openStore(url)).close();
  const key = `\\x${encodeKey(HEAD_KEY).toHex()}`;
  await server().sql(
    `insert into animal_store.records values ('${key}', 2000000000, 'head', true)`,
    database,
  );
  const { message } = await assertRejects(() => openStore(url), StoreRefusedError);
  const advice = /: as the owner of the sequence, run (select .+)$/.exec(message)?.[1];
  assert(advice !== undefined, message);
  await server().sql(advice, database);
  const store = await openStore(url);
  const head = await store.get(HEAD_KEY);
  await put(store, HEAD_KEY, "next");
  assert((await store.get(HEAD_KEY))!.versionstamp > head!.versionstamp);
  store.close();
});

test("expired records are swept once a minute, and no others", async () => {
  let sweep = () => {};
  const runtime = {
    ...systemRuntime,
    setTimer(ms: number, run: () => void) {
      if (ms !== 60_000) return systemRuntime.setTimer(ms, run);
      sweep = run;
      return () => {};
    },
  };
  const store = await openPostgresStore(server(), {}, runtime);
  const expiring = Array.from({ length: 700 }, (_, index) => ({
    type: "set" as const,
    key: ["expired", index],
    value: "",
    expireIn: 1,
  }));
  const later = { type: "set" as const, key: ["later"], value: "", expireIn: 60_000 };
  assertNotEquals(await store.commit({ checks: [], mutations: [...expiring, later] }), null);
  await put(store, ["lasting"], "");
  await after(50);
  const all = () => store.list({ prefix: [] }, { limit: 1_000 });
  assertEquals((await all()).length, 702);
  sweep();
  while ((await all()).length > 2) await after(20);
  assertEquals((await all()).map(({ key }) => key), [["lasting"], ["later"]]);
  store.close();
});

async function put(store: Store, key: Key, value: string | Uint8Array): Promise<void> {
  const mutations = [{ type: "set" as const, key, value }];
  assertNotEquals(await store.commit({ checks: [], mutations }), null);
}

function settingsOf(url: string): PostgresSettings {
  return { ...parseDatabaseUrl(url), passfile: undefined, strictReads: false };
}

function openStore(url: string, signal = AbortSignal.timeout(10_000)): Promise<PostgresStore> {
  const options = { create: true, guardKeys: GUARD_KEYS, onCreated: () => {} };
  return PostgresStore.open(settingsOf(url), systemRuntime, options, signal);
}

/** The database that was created last. */
async function databaseOf(server: PostgresServer): Promise<string> {
  return await server.sql(
    "select datname from pg_database where datname like 'pets_%' order by oid desc limit 1",
  );
}

async function waitFor(isTrue: () => Promise<boolean>): Promise<void> {
  await until(async () => assert(await isTrue()), "It never became true");
}

function after(ms: number): Promise<"late"> {
  return new Promise((resolve) => setTimeout(() => resolve("late"), ms));
}
