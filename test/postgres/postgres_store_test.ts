import { systemRuntime } from "eventstore-less/startup";
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { createSchema, grantTo } from "../../src/eventstore_less/store/postgres/schema.ts";
import type { Key, Store, StoreEntry } from "../../src/eventstore_less/store/store.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreFullError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../src/eventstore_less/store/store_errors.ts";
import {
  holdSnapshot,
  openDatabase,
  POSTGRES,
  PostgresServer,
  serverOfFile,
} from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { startPair } from "./failover.ts";
import { until } from "../support/until.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import { freePort } from "../support/free_port.ts";
import { commit, put, set, testStoreContract } from "../support/store_contract.ts";
import { utf8 } from "../support/utf8.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

testStoreContract({
  name: "PostgresStore",
  needs: [POSTGRES.need],
  open: async () => ({ store: await openNew() }),
});

/** Reads of the head: all prove that the server is the primary when this is due. */
const READS_OF_HEAD: ((store: Store) => Promise<StoreEntry | null>)[] = [
  (store) => store.get(HEAD_KEY),
  ...[false, true].map((reverse) => async (store: Store) => {
    const range = { start: ["a"], end: HEAD_KEY };
    const { entries } = await store.snapshot([["other"], HEAD_KEY], [range], { limit: 1, reverse });
    return entries[1];
  }),
];

test("A read of the head waits for the synchronous standby with strict reads, else two seconds after the last commit", async () => {
  await using pair = await startPair();
  const { primary, standby } = pair;
  let passedMs = 0;
  const runtime = { ...systemRuntime, monotonicNow: () => passedMs };
  const openAll = async (strictReads: boolean) => {
    const url = primary.url(await primary.createDatabase());
    return await Promise.all(
      READS_OF_HEAD.map(() => openDatabase(url, { strictReads }, { runtime })),
    );
  };
  const plain = await openAll(false);
  const strict = await openAll(true);
  const readAll = (stores: Store[]) =>
    Promise.all(READS_OF_HEAD.map((read, index) => read(stores[index])));
  for (const stores of [plain, strict]) {
    assertEquals(await readAll(stores), READS_OF_HEAD.map(() => null));
    for (const store of stores) await put(store, HEAD_KEY, "head");
  }
  // A read that proves the primary counts like a commit.
  passedMs = 2_000;
  for (const stores of [plain, strict]) await readAll(stores);
  await standby.kill();
  passedMs = 3_999;
  const heads = await readAll(plain);
  assertEquals(heads.map((entry) => entry?.value), READS_OF_HEAD.map(() => utf8("head")));
  const withoutHead = () => strict[0].snapshot([["other"]], [{ prefix: [] }], { limit: 1 });
  assertEquals((await withoutHead()).lists[0].map(({ key }) => key), [HEAD_KEY]);
  let waiting = 0;
  const allWait = async (stores: Store[]) => {
    readAll(stores).catch(() => {});
    waiting += stores.length;
    await untilSome(primary, `select 1 from (${WAITING}) as waiting having count(*) = ${waiting}`);
  };
  await allWait(strict);
  passedMs = 4_000;
  await allWait(plain);
  for (const store of [...plain, ...strict]) store.close();
});

/** The processes of a server that wait for its standby. */
const WAITING = "select pid from pg_stat_activity where wait_event = 'SyncRep'";

test("open() passes over standbys, and over a primary whose synchronous standby does not answer", async () => {
  await using pair = await startPair();
  const { primary, standby, database } = pair;
  await until(() => standby.sql("select 1", database), "The standby lags");
  const open = (ports: number[]) => openDatabase(primary.url(database, { ports }));
  const expectAway = async (ports: number[], reason: RegExp) => {
    const { message } = await assertRejects(() => open(ports), StoreAwayError);
    assertMatch(message, reason);
  };
  await expectAway([standby.port], /^it does not answer: .*it is a standby/);
  (await open([standby.port, primary.port])).close();
  await standby.promote();
  await expectAway([primary.port], /^it waits for a standby: synchronous_standby_names = \*, none/);
  const store = await open([primary.port, standby.port]);
  await put(store, ["key"], "value");
  store.close();
});

test("open() leaves no process on a server whose synchronous standby does not answer", async () => {
  await using pair = await startPair();
  const { primary, standby, database } = pair;
  await standby.kill();
  const url = primary.url(database);
  await assertRejects(() => openDatabase(url), StoreAwayError, "it waits for a standby");
  assert(await abortedOpening(url, () => untilSome(primary, WAITING)) instanceof Error);
  const processes = "select 1 from pg_stat_activity where application_name = 'animal-store'";
  await untilSome(primary, `select 1 where not exists (${processes})`);
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
  await assertRejects(() => openDatabase(url), StoreAwayError, "leads to different servers");
});

test("open() ends when its signal aborts while it waits for a lock on the schema", async () => {
  const database = await server().createDatabase();
  const url = server().url(database);
  (await openDatabase(url)).close();
  await using _lock = await lock(database, "animal_store.schema_version");
  const isLocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
  assert(await abortedOpening(url, () => untilSome(server(), isLocked)) instanceof StoreAwayError);
});

test("open() waits while a host is away, although another one refuses the database", async () => {
  // The same as a standby that lags behind.
  const ports = [freePort(), server().port];
  const opening = openDatabase(server().url("later", { ports }));
  const { message } = await assertRejects(() => opening, StoreAwayError);
  assert(message.includes("there is no database later"), message);
});

test("commit() waits for its standby although the default changed meanwhile, and is unclear if the wait is cancelled", async () => {
  await using pair = await startPair();
  const { primary, standby, database } = pair;
  const store = await openDatabase(primary.url(database));
  await primary.sql("alter system set synchronous_commit = 'off'");
  await primary.sql("select pg_reload_conf()");
  await standby.kill();
  const committing = put(store, ["key"], "value").catch((error) => error);
  await untilSome(primary, WAITING);
  // The server then reports success.
  await primary.sql(`select pg_cancel_backend((${WAITING}))`);
  const error = await committing;
  assert(error instanceof UnclearOutcomeError, String(error));
  await assertRejects(() => put(store, ["key"], "value"), StoreAwayError);
  store.close();
});

test("a warning without a cancelled wait for the standby is ignored, and a full disk is a StoreFullError", async () => {
  const database = await server().createDatabase();
  const store = await openDatabase(server().url(database));
  const before = (statement: string) =>
    server().sql(
      `create or replace function act() returns trigger language plpgsql as
          $$ begin ${statement}; return new; end $$;
        create or replace trigger act before insert on animal_store.records
          for each row execute function act()`,
      database,
    );
  await before("raise warning 'must be vacuumed'");
  await put(store, ["key"], "value");
  await put(store, ["key"], "other");
  await before("raise 'could not extend' using errcode = 'disk_full'");
  await assertRejects(() => put(store, ["key"], "value"), StoreFullError);
  // A read needs space, too, if it sorts in a file. Its error speaks of no write.
  await server().sql(
    `alter table animal_store.records rename to kept;
      create function fail() returns boolean language plpgsql as
        $$ begin raise 'could not write' using errcode = 'disk_full'; end $$;
      create view animal_store.records as select * from animal_store.kept where public.fail()`,
    database,
  );
  const message = "The database reports: could not write";
  await assertRejects(() => store.get(["key"]), NotAppliedError, message);
  store.close();
});

test("open() creates the tables once if several instances start together, also in a schema", async () => {
  for (const statement of ["select 1", "create schema animal_store"]) {
    const database = await server().createDatabase();
    await server().sql(statement, database);
    let created = 0;
    const onSchemaCreated = () => created++;
    const openOne = () => openDatabase(server().url(database), {}, { onSchemaCreated });
    const stores = await Promise.all([1, 2, 3, 4, 5].map(openOne));
    for (const store of stores) store.close();
    assertEquals(created, 1);
  }
});

test("commit() is unclear if its connection ends, and later calls reject at once", async () => {
  await using server = await PostgresServer.start();
  const store = await openDatabase(server.url(await server.createDatabase()));
  server.pause();
  const guard = { key: ["key"], versionstamp: null };
  const commit = { guard, mutations: [set(["key"], "value")] };
  const committing = store.commit(commit).catch((error) => error);
  await sleep(100);
  await server.kill();
  const error = await committing;
  assert(error instanceof UnclearOutcomeError, String(error));
  await assertRejects(() => store.commit(commit), StoreAwayError);
  await assertRejects(() => store.list({ prefix: [] }, { limit: 1 }), StoreAwayError);
  store.close();
});

test("commit() is not applied if it meets a lock", async () => {
  const database = await server().createDatabase();
  const store = await openDatabase(server().url(database));
  const guard = { key: ["key"], versionstamp: await put(store, ["key"], "value") };
  const commit = { guard, mutations: [set(["key"], "other")] };
  {
    await using _lock = await lock(database, "animal_store.records");
    await assertRejects(() => store.commit(commit), NotAppliedError);
  }
  assertEquals((await store.get(["key"]))?.value, utf8("value"));
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
  const store = await openNew({ user: "other", password: "secret" });
  const value = new Uint8Array(60_000).fill(200);
  await put(store, ["key"], value);
  assertEquals((await store.get(["key"]))?.value, value);
  store.close();
});

test("a session calls no function of another role, even if the search path of its role begins with it", async () => {
  const database = await server().createDatabase();
  const signatures = [
    "cardinality(value bytea[]) returns integer",
    "count(value bytea) returns bigint",
    "current_setting(name text) returns text",
    "nextval(sequence regclass) returns bigint",
    "pg_is_in_recovery() returns boolean",
    "set_config(name text, value text, is_local boolean) returns text",
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
  const url = server().url(database, { user: "visitor", password: "secret" });
  const store = await openDatabase(url);
  const mutations = Array.from({ length: 60 }, (_, index) => set(["key", index], ""));
  await commit(store, mutations);
  assertEquals((await store.get(["key", 0]))?.value, new Uint8Array());
  assertEquals((await store.list({ prefix: [] }, { limit: 500 })).length, 60);
  store.close();
});

test("no version repeats if the sequence of versions falls behind, before open() or after it", async () => {
  await server().sql("create role limited login password 'secret'");
  const database = await server().createDatabase();
  await server().sql(
    createSchema({ program: "animal-store" }) + grantTo({ program: "animal-store" }, "limited"),
    database,
  );
  const url = server().url(database, { user: "limited", password: "secret" });
  let store = await openDatabase(url);
  const next = async (versionstamp: string | null) => {
    const guard = { key: HEAD_KEY, versionstamp };
    return await store.commit({ guard, mutations: [set(HEAD_KEY, "")] });
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
    store = await openDatabase(url);
    last = await next(after);
    assert(last !== null && last > after, `${last} follows ${after}`);
  }
  store.close();
});

test("reads and commits of the head touch as few pages beside a transaction with an old snapshot", async () => {
  const database = await server().createDatabase();
  const url = server().url(database);
  const touchedPages = async (calls: number) => {
    const before = await pagesTouched(database);
    const store = await openDatabase(url);
    let { versionstamp } = (await store.get(HEAD_KEY)) ?? { versionstamp: null };
    for (let done = 0; done < calls; done++) {
      const guard = { key: HEAD_KEY, versionstamp };
      versionstamp = await store.commit({ guard, mutations: [set(HEAD_KEY, "head")] });
      assertEquals((await store.get(HEAD_KEY))?.versionstamp, versionstamp);
    }
    store.close();
    return (await pagesTouched(database) - before) / calls;
  };
  await touchedPages(1);
  const alone = await touchedPages(100);
  await using _snapshot = await holdSnapshot(server(), database);
  await touchedPages(500);
  const beside = await touchedPages(100);
  assert(beside < alone + 10, `${beside} pages instead of ${alone}`);
});

test("commit() lets one of several instances replace the head, or create it", async () => {
  const url = server().url(await server().createDatabase());
  const stores = await Promise.all(Array.from({ length: 6 }, () => openDatabase(url)));
  for (let round = 0; round < 20; round++) {
    const versionstamp = (await stores[0].get(HEAD_KEY))?.versionstamp ?? null;
    const guard = { key: HEAD_KEY, versionstamp };
    const mutations = (
      index: number,
    ) => [set(HEAD_KEY, `${index}`), set(["winner", round, index], "")];
    const outcomes = await Promise.all(
      stores.map((store, index) => store.commit({ guard, mutations: mutations(index) })),
    );
    const winners = outcomes.flatMap((outcome, index) => outcome === null ? [] : [index]);
    assertEquals(winners.length, 1);
    const records = await stores[1].list({ prefix: ["winner", round] }, { limit: 10 });
    assertEquals(records.map(({ key }) => key[2]), winners);
    assertEquals((await stores[1].get(HEAD_KEY))?.value, utf8(`${winners[0]}`));
  }
  for (const store of stores) store.close();
});

test("a commit on the head writes and deletes records with it, or nothing, and another commit may not change the head", async () => {
  const store = await openNew();
  await put(store, HEAD_KEY, "first");
  await put(store, ["old"], "old");
  const head = await store.get(HEAD_KEY);
  const commit = {
    guard: { key: HEAD_KEY, versionstamp: head!.versionstamp },
    mutations: [
      set(["kept"], "kept"),
      set(["old"], "not the last mutation of this key"),
      { type: "delete" as const, key: ["old"] },
      set(HEAD_KEY, "not the last value of the head"),
      set(HEAD_KEY, "second"),
    ],
  };
  const versionstamp = await store.commit(commit);
  assert(versionstamp !== null && versionstamp > head!.versionstamp);
  const expected = [
    { key: HEAD_KEY, value: utf8("second"), versionstamp },
    { key: ["kept"], value: utf8("kept"), versionstamp },
  ];
  const all = async () => await store.list({ start: ["a"], end: ["z"] }, { limit: 10 });
  assertEquals(await all(), expected);
  // The guard has changed.
  const changed = [set(["kept"], "changed"), set(["new"], ""), set(HEAD_KEY, "third")];
  assertEquals(await store.commit({ ...commit, mutations: changed }), null);
  assertEquals(await all(), expected);
  const guard = { key: ["kept"], versionstamp };
  for (const change of [set(HEAD_KEY, "third"), { type: "delete" as const, key: HEAD_KEY }]) {
    const mutations = [set(["kept"], "changed"), change];
    await assertRejects(() => store.commit({ guard, mutations }), StoreRefusedError, "the head");
  }
  assertEquals(await all(), expected);
  store.close();
});

test("a placeholder of an earlier version counts as a missing record, which a commit can make", async () => {
  const database = await server().createDatabase();
  const store = await openDatabase(server().url(database));
  await put(store, ["one"], "1");
  await server().sql("update animal_store.records set version = 0, value = null", database);
  assertEquals(await store.get(["one"]), null);
  assertEquals(await store.list({ prefix: [] }, { limit: 9 }), []);
  await put(store, ["one"], "2");
  assertEquals((await store.get(["one"]))?.value, utf8("2"));
  store.close();
});

test("the head is a record like others for list(), snapshot() and a delete", async () => {
  const store = await openNew();
  const keysOf = async (start: Key, end: Key, reverse = false) => {
    const options = { limit: 2, reverse };
    const listed = await store.list({ start, end }, options);
    const { lists } = await store.snapshot([["a"]], [{ start, end }], options);
    assertEquals(lists, [listed]);
    return listed.map(({ key }) => key[0]);
  };
  for (const key of ["a", "head", "z"]) await put(store, [key], key);
  assertEquals(await keysOf(["a"], ["zz"]), ["a", "head"]);
  assertEquals(await keysOf(["a"], ["zz"], true), ["z", "head"]);
  assertEquals(await keysOf(["b"], ["head"]), []);
  assertEquals(await keysOf(["head"], ["z"]), ["head"]);
  const { entries } = await store.snapshot([HEAD_KEY, ["b"], ["z"]], [], { limit: 0 });
  const [head, missing, other] = entries;
  assertEquals([head, missing], [await store.get(HEAD_KEY), null]);
  assertEquals([head?.value, other?.value], [utf8("head"), utf8("z")]);
  const guard = { key: HEAD_KEY, versionstamp: head!.versionstamp };
  const mutations = [{ type: "delete" as const, key: HEAD_KEY }];
  assertNotEquals(await store.commit({ guard, mutations }), null);
  assertEquals(await store.get(HEAD_KEY), null);
  assertEquals(await store.commit({ guard, mutations }), null);
  assertEquals(await keysOf(["a"], ["zz"]), ["a", "z"]);
  const again = {
    guard: { key: HEAD_KEY, versionstamp: null },
    mutations: [set(HEAD_KEY, "new")],
  };
  assertNotEquals(await store.commit(again), null);
  assertEquals((await store.get(HEAD_KEY))?.value, utf8("new"));
  store.close();
});

test("open() refuses a sequence far behind the records, and its advice works word for word", async () => {
  const database = await server().createDatabase();
  const url = server().url(database);
  (await openDatabase(url)).close();
  await server().sql("update animal_store.head set version = 2000000000, value = 'head'", database);
  const { message } = await assertRejects(() => openDatabase(url), StoreRefusedError);
  const advice = /: as the owner of the sequence, run (select .+)$/.exec(message)?.[1];
  assert(advice !== undefined, message);
  await server().sql(advice, database);
  const store = await openDatabase(url);
  const head = await store.get(HEAD_KEY);
  await put(store, HEAD_KEY, "next");
  assert((await store.get(HEAD_KEY))!.versionstamp > head!.versionstamp);
  store.close();
});

async function openNew(
  user: { user?: string; password?: string } = {},
  runtime = systemRuntime,
): Promise<Store> {
  return await openDatabase(server().url(await server().createDatabase(), user), {}, { runtime });
}

/** Opens a store, aborts that once it waits for something, and resolves to the error. */
async function abortedOpening(url: string, untilWaiting: () => Promise<void>): Promise<unknown> {
  const controller = new AbortController();
  const opening = openDatabase(url, {}, { signal: controller.signal }).catch((error) => error);
  await untilWaiting();
  controller.abort();
  return await opening;
}

/** How many pages of tables and indexes the store's connections to a database have touched, once all are closed. */
async function pagesTouched(database: string): Promise<number> {
  const others = `select 1 from pg_stat_activity
    where application_name = 'animal-store' and datname = '${database}'`;
  await untilSome(server(), `select 1 where not exists (${others})`);
  const pages = await server().sql(
    `select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)
      from pg_statio_user_tables where schemaname = 'animal_store'`,
    database,
  );
  return Number(pages);
}

/** Locks a table until the lock is disposed of. */
function lock(database: string, table: string): Promise<AsyncDisposable> {
  return hold(database, `lock table ${table} in access exclusive mode`);
}

/** Keeps a transaction open that has executed a statement, until it is disposed of. */
async function hold(database: string, statement: string): Promise<AsyncDisposable> {
  const statements = `begin; ${statement}; select pg_sleep(600)`;
  const locking = server().sql(statements, database).catch(() => {});
  const process = "from pg_stat_activity where wait_event = 'PgSleep'";
  await untilSome(server(), `select 1 ${process}`);
  return {
    async [Symbol.asyncDispose]() {
      await server().sql(`select pg_terminate_backend(pid) ${process}`);
      await locking;
    },
  };
}

/** Resolves when a query returns rows. */
function untilSome(server: PostgresServer, query: string): Promise<void> {
  return until(async () => assertNotEquals(await server.sql(query), ""), `No row of ${query}`);
}
