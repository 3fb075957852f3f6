/** Databases that cannot be used: every program says why, on one line. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { HEAD_KEY } from "../../src/keyspace.ts";
import { encodeKey } from "../../src/store/key_encoding.ts";
import { freePort } from "../support/free_port.ts";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { runTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { testIf } from "../support/test_if.ts";

const test = testIf(!POSTGRES.ignore);

const server = serverOfFile();

/** Asserts that a tool and the service end with that reason. */
async function expectRefused(
  address: string,
  reason: RegExp | string,
  env: Record<string, string> = {},
): Promise<void> {
  const options = { kvPath: address, env: { PORT: "0", ...env } };
  for (
    const [task, exitCode] of [[["keys", "issue", "--label", "refused"], 2], [
      ["start"],
      1,
    ]] as const
  ) {
    const { code, stdout, stderr } = await runTask([...task], options);
    assertEquals([task, code, stdout], [task, exitCode, ""], stderr);
    assertMatch(
      stderr,
      /^error: Cannot open the database \S+ on 127\.0\.0\.1:\d+ \(DATABASE_URL\): [^\n]+\n$/,
    );
    assertMatch(stderr, typeof reason === "string" ? new RegExp(RegExp.escape(reason)) : reason);
    assert(!stderr.includes(server().password), "the password is printed");
  }
}

test("a database that does not exist, and a server that does not run", async () => {
  await expectRefused(server().url("nowhere"), "there is no database nowhere");
  const address = server().url("pets", { ports: [freePort()] });
  const { code, stderr } = await runTask(["log"], { kvPath: address });
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /^error: Cannot open the database pets on [^\n]*: it does not answer: [^\n]+\n$/,
  );
});

test("a database with tables of another program, and with a schema animal_store that is not ours", async () => {
  const database = await server().createDatabase();
  await server().sql("create table orders (id integer)", database);
  await expectRefused(
    server().url(database),
    "it holds tables of another program, such as public.orders",
  );
  await server().sql("create schema animal_store; create table animal_store.z ()", database);
  await expectRefused(
    server().url(database),
    "it holds tables of another program, such as animal_store.z",
  );
});

test("a schema of a newer version, and a database in which nothing was written yet", async () => {
  const database = await server().createDatabase();
  const address = server().url(database);
  const { code, stderr } = await runTask(["log"], { kvPath: address });
  assertEquals(code, 2);
  assertMatch(stderr, /: there is no log in it yet/);
  const issued = await runTask(["keys", "issue", "--label", "first"], { kvPath: address });
  assertEquals(issued.code, 0, issued.stderr);
  assertEquals(
    issued.stderr.split("\n")[0],
    `Created the tables in the database ${database} on 127.0.0.1:${server().port}`,
  );
  await server().sql("update animal_store.schema_version set version = 9", database);
  await expectRefused(address, "has version 9, of a newer version");
});

test("a role with few rights: it cannot create the schema, and needs nothing but the grants of deno task schema", async () => {
  const database = await server().createDatabase();
  await server().sql("create role service login password 'secret'");
  const address = server().url(database, { user: "service", password: "secret" });
  await expectRefused(
    address,
    "the role may not create the schema animal_store; see deno task schema",
  );
  const { code, stdout, stderr } = await runTask(["schema", "--role", "service"], {
    kvPath: ":memory:",
  });
  assertEquals([code, stderr], [0, ""]);
  const [created, grants] = stdout.split(/(?=grant usage on schema)/);
  await server().sql(created, database);
  await expectRefused(address, "the role lacks rights on the schema animal_store");
  await server().sql(grants, database);
  const issued = await runTask(["keys", "issue", "--label", "first"], { kvPath: address });
  assertEquals(issued.code, 0, issued.stderr);
  await using service = await ServiceProcess.start(address);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, issued.stdout.trim()), 201);
  for (const task of [["replay", "--grace", "0"], ["audit"]]) {
    const outcome = await runTask(task, { kvPath: address });
    assertEquals([task, outcome.code], [task, 0], outcome.stderr);
  }
  // The start compares the sequence of versions with this record only.
  const head = `'\\x${encodeKey(HEAD_KEY).toHex()}'`;
  const newest = "select key from animal_store.records order by version desc limit 1";
  assertEquals(await server().sql(`select (${newest}) = ${head}`, database), "t");
});

test("passwords from PGPASSWORD, and from a PGPASSFILE that only its owner can read", async () => {
  const database = await server().createDatabase();
  const { password, port } = server();
  const address = `postgres://operator@127.0.0.1:${port}/${database}`;
  const folder = await Deno.makeTempDir();
  const file = `${folder}/passwords`;
  const list = (env: Record<string, string>) =>
    runTask(["keys", "issue", "--label", "first"], { kvPath: address, env });
  try {
    await expectRefused(address, "it asks for a password");
    await expectRefused(address, "it refuses the password of the role operator", {
      PGPASSWORD: "wrong",
    });
    assertEquals((await list({ PGPASSWORD: password })).code, 0);
    await Deno.writeTextFile(file, `127.0.0.1:${port}:${database}:operator:${password}\n`);
    await Deno.chmod(file, 0o644);
    await expectRefused(address, "other users can read the password file (PGPASSFILE)", {
      PGPASSFILE: file,
    });
    await Deno.chmod(file, 0o600);
    const { code, stderr } = await list({ PGPASSFILE: file });
    assertEquals(code, 0, stderr);
    await Deno.writeTextFile(file, "");
    await expectRefused(address, "it asks for a password", { PGPASSFILE: file });
    await expectRefused(address, "the password file (PGPASSFILE) cannot be read", {
      PGPASSFILE: `${folder}/nowhere`,
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
