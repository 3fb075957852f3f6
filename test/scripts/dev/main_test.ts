import { APPLICATION } from "../../../src/application.ts";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import { assertEquals, assertNotEquals } from "@std/assert";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { HEAD_KEY } from "../../../src/eventstore_less/keyspace.ts";
import { decodeHeadRecord, EMPTY_HEAD, encodeHead } from "../../../src/eventstore_less/log/head.ts";
import { KvStore } from "../../../src/eventstore_less/store/deno_kv/kv_store.ts";
import { WebhookKeys } from "../../../src/webhooks/secrets.ts";
import { expectTaskFails, runTask, spawnTask } from "../../support/run_task.ts";
import { changeFile } from "../../support/sample_file.ts";
import { TempStore } from "../../support/temp_store.ts";
import { withProjectCopy } from "../../support/with_project_copy.ts";
import { ON_DENO } from "../../support/programs.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES, ON_DENO);

/** A module of the service, relative to the project. */
const SOURCE = "src/eventstore_less/encoding/sha256.ts";

/** Ends a `deno task dev` that hangs. */
const LIMIT_MS = 600_000;

test("dev prints a curl line that works, keeps its key, reports what is wrong, and serves again after the next change", () =>
  withProjectCopy(async (project) => {
    await using temp = await TempStore.make();
    const file = `${temp.kvPath}.dev_key`;
    await Deno.writeTextFile(file, "not a key: 猫\n", { mode: 0o600 });
    const correct = await Deno.readTextFile(`${project}/${SOURCE}`);
    await edit(project, () => `${correct}export const wrong: number = "text";\n`);
    await using dev = startDev(project, temp.kvPath);
    const token = await dev.serves();
    assertEquals(await Deno.readTextFile(file), `${token}\n`);
    const webhookKey = await Deno.readTextFile(`${temp.kvPath}.dev_webhook_key`);
    assertNotEquals(WebhookKeys.parse(webhookKey.trim()), undefined);
    if (Deno.build.os !== "windows") assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    await dev.reports(/TS2322/);
    await dev.reports(/^The type check failed; it runs again after the next change$/);
    await edit(project, () => correct);
    await dev.reports(/^The type check passes again$/);
    assertEquals(await dev.serves(), token);
    assertEquals(await Deno.readTextFile(`${temp.kvPath}.dev_webhook_key`), webhookKey);

    await edit(project, () => "export const = ;\n");
    await dev.reports(/^The service has ended; it starts again after the next change$/);
    const hang = "setTimeout(() => { console.log('hangs'); while (true); }, 1_000);\n";
    await edit(project, () => correct + hang);
    await dev.prints(/^hangs$/);
    await edit(project, () => correct);
    await dev.serves();

    const config = `${project}/src/settings/config.ts`;
    await editFile(config, (source) =>
      source.replace(
        /function readDevConfig\(\).*\{/,
        '$& Deno.env.get("NEW_VARIABLE");',
      ));
    const [advice] = await dev.reports(/^error: Requires env access to "NEW_VARIABLE"(.*)$/);
    assertEquals(advice, ': add it to "permissions" in deno.json');
    await dev.reports(/^The service has ended; it starts again after the next change$/);
    await editFile(`${project}/deno.json`, (text) => text.replace('"PORT",', '$& "NEW_VARIABLE",'));
    assertEquals(await dev.serves(), token);

    const keys = (...args: string[]) => runTask(["keys", ...args], temp);
    const [{ id }, ...others] = JSON.parse((await keys("list", "--json")).stdout);
    assertEquals(others, []);
    assertEquals(await dev.stop(), 0);
    assertEquals((await keys("revoke", id)).code, 0);
    await using later = startDev(project, temp.kvPath);
    assertNotEquals(await later.serves(), token, "a revoked key is not a development key");
  }));

test("dev listens on loopback, and ends with one line if the port is in use and if its store is of another program", () =>
  withProjectCopy(async (project) => {
    await using temp = await TempStore.make();
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const fails = (reason: string, kvPath: string, env: Record<string, string>) =>
      expectTaskFails(2, new RegExp(`^error: ${reason}\n$`), ["dev"], { kvPath, project, env });
    const inUse = "the port is in use; set PORT to another";
    const taken = `Cannot listen on 127.0.0.1:${port} \\(HOST, PORT\\): ${inUse}`;
    await fails(taken, temp.kvPath, { PORT: String(port), HOST: "" });
    const isFolder = `Cannot open the store ${
      RegExp.escape(temp.folder)
    } \\(KV_PATH\\): it is a folder`;
    await fails(isFolder, temp.folder, { PORT: "0", HOST: "" });
  }));

test("dev waits for a change while the store is of a newer version; --reset moves it away, and --seed fills a new one", () =>
  withProjectCopy(async (project) => {
    const path = `${project}/volume/pets.sqlite3`;
    for (const folder of ["volume", ".data"]) await Deno.mkdir(`${project}/${folder}`);
    // All files of a store lie beside the file to which a link leads.
    await Deno.symlink(path, `${project}/.data/pets.sqlite3`);
    await Deno.writeTextFile(path, "");
    const created = { version: "99.1", count: 1, last: 1 };
    const newer: Head = { ...EMPTY_HEAD, position: 1, types: { PetCreated: created } };
    const setHead = (head: Head) =>
      changeFile(path, [{ type: "set", key: HEAD_KEY, value: encodeHead(APPLICATION, head) }]);
    await setHead(newer);
    {
      await using dev = startDev(project, "");
      await dev.reports(
        /^error: Cannot open .* of the newer release 99.1, .*; use release 99.1 or a later one$/,
      );
      await dev.reports(/^The service has ended; it starts again after the next change$/);
      await setHead(EMPTY_HEAD);
      await edit(project, (source) => `${source}\n`);
      await dev.serves();
      await setHead(newer);
      await edit(project, (source) => `${source}\n`);
      await dev.reports(/of the newer release 99.1, .*; use release 99.1 or a later one$/);
      assertEquals(await dev.stop(), 0, "it was waiting");
    }
    await using dev = startDev(project, "", "--reset", "--seed", "3");
    const [kept] = await dev.reports(/^Moved the old store to (\S+\/volume\/\S+)$/);
    const token = await dev.serves((pets) => assertEquals(pets.map(({ id }) => id), [3, 2, 1]));
    const old = new KvStore(await Deno.openKv(`${kept}/pets.sqlite3`), HEAD_KEY);
    assertEquals(
      decodeHeadRecord(APPLICATION, (await old.get(HEAD_KEY))!.value).kind,
      "refused",
    );
    old.close();
    const names = Array.from(Deno.readDirSync(`${project}/.data`), ({ name }) => name);
    assertEquals([names, await Deno.readTextFile(`${path}.dev_key`)], [
      ["pets.sqlite3"],
      `${token}\n`,
    ]);
  }));

test("dev refuses to reset a store outside of .data, and to add a wrong number of pets", async () => {
  await using temp = await TempStore.make();
  const reset = /^error: --reset works only on \.data\/pets\.sqlite3: .*; see --help\n$/;
  await expectTaskFails(2, reset, ["dev", "--reset"], temp);
  const seed = /^error: --seed takes a whole number from 1 on, not "0"; see --help\n$/;
  await expectTaskFails(2, seed, ["dev", "--seed", "0"], temp);
  assertEquals(Array.from(Deno.readDirSync(temp.folder)), []);
});

/** Runs `deno task dev` on a free port. */
function startDev(project: string, kvPath: string, ...args: string[]) {
  const env = { PORT: "0", HOST: "", NEW_STORE: "" };
  const process = spawnTask(["dev", ...args], { kvPath, project, env });
  const limit = setTimeout(() => process.kill("SIGTERM"), LIMIT_MS);
  const [output, errors] = [process.stdout, process.stderr].map((stream) =>
    createInterface({ input: Readable.fromWeb(stream as never) })[Symbol.asyncIterator]()
  );
  let exitCode: number | undefined;
  return {
    /** Resolves to the key of the next curl line. What it lists is checked, by default that it is empty. */
    async serves(check = (pets: { id: number }[]) => assertEquals(pets, [])): Promise<string> {
      const [address] = await next(output, /^Animal Store serves at (http:\/\/localhost:\d+\/v1)$/);
      const [token] = await next(output, /^Development key: (pets_\S+)$/);
      await next(output, new RegExp(`^ +http://localhost:\\d+/window#key=${token}$`));
      const [authorization, url] = await next(output, /^ +curl -H 'Authorization: (.+)' (\S+)$/);
      assertEquals([authorization, url], [`Bearer ${token}`, `${address}/pets`]);
      const response = await fetch(url, { headers: { authorization } });
      assertEquals(response.status, 200);
      check(await response.json());
      return token;
    },
    prints: (pattern: RegExp) => next(output, pattern),
    reports: (pattern: RegExp) => next(errors, pattern),
    async stop() {
      if (exitCode === undefined) process.kill("SIGTERM");
      exitCode = (await process.status).code;
      return exitCode;
    },
    async [Symbol.asyncDispose]() {
      await this.stop();
      clearTimeout(limit);
      await process.stdin.close();
      // Otherwise the streams stay open.
      for (const lines of [output, errors]) while (!(await lines.next()).done);
    },
  };
}

/** Skips lines until one that matches, and resolves to what it captured. */
async function next(lines: AsyncIterator<string>, pattern: RegExp): Promise<string[]> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`dev prints nothing more, and not ${pattern}`);
    const match = pattern.exec(value);
    if (match !== null) return match.slice(1);
  }
}

function edit(project: string, change: (source: string) => string): Promise<void> {
  return editFile(`${project}/${SOURCE}`, change);
}

async function editFile(path: string, change: (text: string) => string): Promise<void> {
  await Deno.writeTextFile(path, change(await Deno.readTextFile(path)));
}
