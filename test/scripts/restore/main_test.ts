import { assertEquals, assertMatch } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { encodeJson } from "../../../src/encoding/json.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { HEAD_KEY } from "../../../src/keyspace.ts";
import { test as testProcess } from "../../support/test_processes.ts";
import { runTask } from "../../support/run_task.ts";
import { changeFile } from "../../support/sample_file.ts";
import { linesToBytes, sampleLog } from "../../support/sample_log.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { setRecord } from "../../support/set_record.ts";

/** A test of the command with a temporary folder. */
function test(name: string, run: (folder: string) => Promise<void>): void {
  testProcess(name, async () => {
    await using store = await TempStore.make();
    await run(store.folder);
  });
}

/** Runs a task that must succeed, and resolves to its standard output. */
async function done(args: string[], kvPath: string, stdin?: Uint8Array): Promise<string> {
  const { code, stdout, stderr } = await runTask(args, { kvPath, stdin });
  assertEquals(code, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Deno KV's name for the encoding of a value that is bytes. */
const BYTES = 3;

function encodingsOf(kvPath: string): unknown[] {
  using database = new DatabaseSync(kvPath, { readOnly: true });
  const rows = database.prepare("select distinct v_encoding from kv").all();
  return rows.map(({ v_encoding }) => v_encoding);
}

/** The exact responses to clients with these keys. */
async function responsesOf(kvPath: string, tokens: string[]): Promise<unknown[][]> {
  await using service = await ServiceProcess.start(kvPath);
  const responses: unknown[][] = [];
  const paths = ["", "?limit=7", "?status=sold&limit=3", "?cursor=9&limit=5", "/1", "/999"];
  for (const token of tokens) {
    for (const path of paths) {
      const response = await service.send(`/v1/pets${path}`, token);
      // Each service has a port of its own.
      const link = response.headers.get("link")?.replace(service.address, "");
      responses.push([path, response.status, link, await response.text()]);
    }
  }
  return responses;
}

test("restore: the copy has the same log, gives the same responses to the same keys, and is sound", async (folder) => {
  const [origin, copy] = [`${folder}/origin.sqlite3`, `${folder}/copy.sqlite3`];
  const issue = (label: string) => done(["keys", "issue", "--label", label], origin);
  const tokens = [(await issue("a")).trim(), (await issue("b")).trim()];
  const [{ id }] = JSON.parse(await done(["keys", "list", "--json"], origin));
  const once = { "idempotency-key": "once" };
  const rex = { name: "Rex", categoryId: 1 };
  {
    await using service = await ServiceProcess.start(origin);
    for (let index = 0; index < 12; index++) {
      const pet = {
        name: `Zoë ${index}`,
        categoryId: index,
        status: ["sold", "pending"][index % 2],
      };
      assertEquals(await service.add(pet, tokens[index % 2]), 201);
    }
    assertEquals(await service.add(rex, tokens[1], once), 201);
  }
  await done(["keys", "rotate", id], origin);
  await done(["keys", "revoke", id], origin);
  const log = await done(["log"], origin);
  const responses = await responsesOf(origin, tokens);

  await Deno.writeTextFile(`${folder}/export.jsonl`, log);
  await done(["restore", `${folder}/export.jsonl`], copy);
  assertEquals(await done(["log"], copy), log);
  assertEquals(await responsesOf(copy, tokens), responses);
  assertEquals(responses.slice(0, 7).map(([, status]) => status), [...Array(6).fill(401), 200]);
  const keys = await done(["keys", "list"], origin);
  assertEquals(await done(["keys", "list"], copy), keys);
  assertEquals(await done(["audit"], copy), await done(["audit"], origin));

  await using service = await ServiceProcess.start(copy);
  const again = await service.send("/v1/pets", tokens[1], {
    method: "POST",
    headers: { "content-type": "application/json", ...once },
    body: JSON.stringify(rex),
  });
  assertEquals([again.status, (await again.json()).id], [201, 13]);
  assertEquals(await done(["log"], copy), log);
  // V8's encoding of other values differs between runtimes.
  for (const kvPath of [origin, copy]) assertEquals(encodingsOf(kvPath), [BYTES]);
});

test("restore: - reads standard input, and a refused export creates no store", async (folder) => {
  const lines = sampleLog(50);
  const kvPath = `${folder}/pets.sqlite3`;
  const refused = await runTask(["restore", "-"], {
    kvPath,
    stdin: linesToBytes(lines.toSpliced(20, 1)),
  });
  assertEquals([refused.code, refused.stdout], [1, ""]);
  assertMatch(
    refused.stderr,
    /^error: Line 21: its sequence says position 22, but 21 was expected\n$/,
  );
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);

  await done(["restore", "-"], kvPath, linesToBytes(lines));
  assertEquals(await done(["log"], kvPath), new TextDecoder().decode(linesToBytes(lines)));
  const again = await runTask(["restore", "-"], { kvPath, stdin: linesToBytes(lines) });
  assertEquals([again.code, again.stdout], [2, ""]);
  assertMatch(again.stderr, /^error: The store already holds a log/m);
});

test("restore: an export or a store that cannot be used exits 2 and says why", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const cases: [string[], string, RegExp][] = [
    [["restore"], kvPath, /An export is required/],
    [["restore", `${folder}/none`], kvPath, /^error: \S+\/none does not exist\n$/],
    [["restore", folder], kvPath, /^error: \S+ is a folder, not a file\n$/],
    // The export would be refused too, but the store is checked first.
    [
      ["restore", "-"],
      `${folder}/none/pets.sqlite3`,
      /^error: Cannot open .* its folder does not exist/,
    ],
    [["restore", "-"], ":memory:", /KV_PATH must not be :memory:, .*; set it to a new file\n$/],
  ];
  for (const [args, path, words] of cases) {
    const { code, stdout, stderr } = await runTask(args, { kvPath: path });
    assertEquals([code, stdout], [2, ""]);
    assertMatch(stderr, words);
  }
});

test("restore: only the restore itself accepts a store with half a log", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const lines = sampleLog(30);
  const [run, lastHash] = ["01HZZZZZZZ0000000000000001", sha256Hex(lines[29])];
  const mark = { format: "restore", storeFormat: 5, run, position: 30, lastHash, restored: 0 };
  await changeFile(kvPath, [setRecord(HEAD_KEY, encodeJson(mark))]);
  for (const task of ["start", "log", "audit"]) {
    const { code, stdout, stderr } = await runTask([task], { kvPath });
    assertEquals([code !== 0, stdout], [true, ""], task);
    assertMatch(stderr, /a restore into it is under way or was interrupted/);
  }
  await done(["restore", "-"], kvPath, linesToBytes(lines));
  assertMatch(await done(["audit"], kvPath), /^Sound: 30 events/m);
});
