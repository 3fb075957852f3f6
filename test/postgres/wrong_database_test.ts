/** Databases that cannot be used. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { PostgresSettings } from "../../src/eventstore_less/store/postgres/database_url.ts";
import { StoreRefusedError } from "../../src/eventstore_less/store/store_errors.ts";
import { callCommandsBy } from "../../src/runtime/words.ts";
import { openDatabase, POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectTask, expectTaskFails, runTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { until } from "../support/until.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

// The messages are those that operators read.
callCommandsBy(undefined);

const ISSUE = ["keys", "issue", "--label", "first"];

async function expectRefused(
  address: string,
  reason: string,
  settings: Partial<PostgresSettings> = {},
): Promise<void> {
  await assertRejects(() => openDatabase(address, settings), StoreRefusedError, reason);
}

test("open() refuses tables of another program, and a schema animal_store that is not ours, and leaves no connection", async () => {
  const database = await server().createDatabase();
  const reason = "it holds tables of another program, such as";
  await server().sql("create table orders (id integer)", database);
  await expectRefused(server().url(database), `${reason} public.orders; use another database`);
  await server().sql("create schema animal_store; create table animal_store.z ()", database);
  await expectRefused(server().url(database), `${reason} animal_store.z; use another database`);
  const left = "select count(*) from pg_stat_activity " +
    `where application_name = 'animal-store' and datname = '${database}'`;
  await until(async () => assertEquals(await server().sql(left), "0"), "Connections stay open");
});

test("a schema of another version, and a database in which nothing was written yet", async () => {
  const database = await server().createDatabase();
  const address = server().url(database);
  await expectTaskFails(2, /: there is no log in it yet/, ["log"], { kvPath: address });
  const issued = await runTask(ISSUE, { kvPath: address });
  const created = `Created the tables in the database ${database} on 127.0.0.1:${server().port}`;
  assertEquals([issued.code, issued.stderr.split("\n")[0]], [0, created]);
  await server().sql("update animal_store.schema_version set version = 9", database);
  await expectRefused(
    address,
    "has the newer version 9, and this program knows version 6; use a newer program",
  );
  await server().sql("update animal_store.schema_version set version = 1", database);
  await expectRefused(address, "its schema animal_store has version 1, of an older version");
});

test("a role with few rights: it cannot create the schema, and needs nothing but the grants of deno task schema", async () => {
  const database = await server().createDatabase();
  await server().sql("create role service login password 'secret'");
  const address = server().url(database, { user: "service", password: "secret" });
  await expectRefused(
    address,
    "the role may not create the schema animal_store; see deno task schema",
  );
  const schema = await runTask(["schema", "--role", "service"], { kvPath: ":memory:" });
  assertEquals([schema.code, schema.stderr], [0, ""]);
  const [created, grants] = schema.stdout.split(/(?=grant usage on schema)/);
  await server().sql(created, database);
  await expectRefused(
    address,
    "the role lacks rights on the schema animal_store; see deno task schema --role",
  );
  const [usage, ...rights] = grants.split(/(?<=;)\n/);
  await server().sql(usage + rights[0], database);
  await expectRefused(address, "the role lacks rights on the schema animal_store");
  await server().sql(rights.slice(1).join(""), database);
  const token = (await expectTask(ISSUE, { kvPath: address })).trim();
  await using service = await ServiceProcess.start(address);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
  await expectTask(["replay", "--grace", "0"], { kvPath: address });
  // The start compares the sequence of versions with the guards only.
  const newest = (table: string) =>
    server().sql(`select max(version) from animal_store.${table}`, database);
  const [head, others] = await Promise.all(["head", "records"].map(newest));
  assert(
    Number(head) >= Number(others),
    `${head} is the version of the head, ${others} of another record`,
  );
  // Its note of the last audit is a guard of its own, on which nothing else depends.
  await expectTask(["audit"], { kvPath: address });
});

test("passwords from PGPASSWORD, and from a PGPASSFILE that only its owner can read", async () => {
  const database = await server().createDatabase();
  const { secret: password, port } = server();
  const address = `postgres://operator@127.0.0.1:${port}/${database}`;
  const passfile = await Deno.makeTempFile();
  const expectKey = (env: Record<string, string>) => expectTask(ISSUE, { kvPath: address, env });
  await expectRefused(address, "it asks for a password");
  const line = `add 127.0.0.1:${port}:${database}:operator:PASSWORD`;
  await expectRefused(address, `no line of the password file (PGPASSFILE) matches; ${line}`, {
    passfile,
  });
  const refused = "it refuses the password of the role operator";
  await expectRefused(address, refused, { password: "wrong" });
  await expectKey({ PGPASSWORD: password });
  await Deno.writeTextFile(passfile, `127.0.0.1:${port}:${database}:operator:${password}\n`);
  await expectKey({ PGPASSFILE: passfile });
  await Deno.chmod(passfile, 0o644);
  const readable = "other users can read the password file (PGPASSFILE)";
  await expectRefused(address, readable, { passfile });
  await Deno.remove(passfile);
  const missing = "the password file (PGPASSFILE) cannot be read";
  await expectRefused(address, missing, { passfile });
});
