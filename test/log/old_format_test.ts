/** Stores and exports of commit 3c8f608. It wrote format 1: a record for each line and for each pet. */

import { fileURLToPath } from "node:url";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { HEAD_KEY } from "../../src/keyspace.ts";
import { permitted } from "../support/permitted.ts";
import { runTask } from "../support/run_task.ts";
import type { Key } from "../../src/store/store.ts";
import { TempStore } from "../support/temp_store.ts";

const ignore = !permitted("env", "net", "read", "run", "write");

/** All records of a store with one key and two pets. */
const STORE = new URL("../support/fixtures/format_1_store.json", import.meta.url);

/** A log with a rotation, a revocation, all statuses and Idempotency-Keys. */
const EXPORT = fileURLToPath(
  new URL("../support/fixtures/format_1_export.jsonl", import.meta.url),
);

/** The last hash of the export, as the audit of that commit printed it. */
const LAST_HASH = "6458a56470d3071dbd2bae8602169948d13ef3d0f9ee45a6bdbec8c1d8909eeb";

/** One line that says what to do with each version. */
const REFUSAL =
  /^error: Cannot open the store .*: it has format 1, of an older version; export it with that version \(deno task log > .*\), then restore the export into a new store with this one\n$/;

const COMMANDS: [code: number, args: string[]][] = [
  [1, ["start"]],
  [2, ["audit"]],
  [2, ["replay"]],
  [2, ["log"]],
  [2, ["keys", "list"]],
  [2, ["keys", "issue", "--label", "test"]],
];

for (const [expected, args] of COMMANDS) {
  Deno.test({
    name: `${args.join(" ")}: refuses a store of format 1 with one line, and does not change it`,
    ignore,
    fn: () =>
      withOldStore(async (kvPath) => {
        const env = { HOST: "127.0.0.1", PORT: "0" };
        const { code, stdout, stderr } = await runTask(args, { kvPath, env });
        assertMatch(stderr, REFUSAL);
        assertEquals([code, stdout], [expected, ""]);
      }),
  });
}

const RESTORES: [state: string, head: string | undefined, refusal: RegExp][] = [
  [
    "a store of format 1",
    undefined,
    /^error: The store is not empty: it has format 1, .* into a new store with this one$/m,
  ],
  [
    "a store with an unfinished restore of that commit",
    '{"format":"restore","run":"01M7ZHNKKYE3MC379J0DW18ZMY","position":30,' +
    `"lastHash":"${LAST_HASH}","restored":3}`,
    /^error: The store is not empty: it holds an unfinished restore of another version; use a new store$/m,
  ],
];

for (const [state, head, refusal] of RESTORES) {
  Deno.test({
    name: `restore: refuses ${state}, and does not change it`,
    ignore,
    fn: () =>
      withOldStore(async (kvPath) => {
        const { code, stderr } = await runTask(["restore", EXPORT], { kvPath });
        assertMatch(stderr, refusal);
        assertEquals([code, stderr.match(/^(error:| +at )/gm)], [2, ["error:"]]);
      }, head),
  });
}

Deno.test({
  name:
    "An export of format 1 is restored as it is: the audit is sound, and its export is the same",
  ignore,
  async fn() {
    await using store = await TempStore.make();
    const done = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runTask(args, { kvPath: store.kvPath });
      assertEquals(code, 0, `${args.join(" ")}: ${stderr}`);
      return stdout;
    };
    assertStringIncludes(await done("audit", "--file", EXPORT), LAST_HASH);
    await done("restore", EXPORT);
    assertStringIncludes(await done("audit"), LAST_HASH);
    assertEquals(await done("log"), await Deno.readTextFile(EXPORT));
  },
});

/**
 * Calls `use` with a store of format 1, and asserts that no file in its folder changed. `head` replaces the
 * head record.
 */
async function withOldStore(
  use: (kvPath: string) => Promise<void>,
  head?: string,
): Promise<void> {
  await using store = await TempStore.make();
  const records: { key: Key; text?: string; bytes?: string }[] = JSON.parse(
    await Deno.readTextFile(STORE),
  );
  const kv = await Deno.openKv(store.kvPath);
  for (const { key, text, bytes } of records) {
    await kv.set(key, text ?? new TextEncoder().encode(bytes));
  }
  if (head !== undefined) await kv.set(HEAD_KEY, head);
  kv.close();
  const before = await filesIn(store.folder);
  await use(store.kvPath);
  assertEquals(await filesIn(store.folder), before);
}

async function filesIn(folder: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for await (const { name } of Deno.readDir(folder)) {
    files.set(name, await Deno.readFile(`${folder}/${name}`));
  }
  return files;
}
