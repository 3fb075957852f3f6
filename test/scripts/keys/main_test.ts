import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { expectTask, expectTaskFails, runTask } from "../../support/run_task.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES);

const TOKEN_LINE = /^pets_[0-9a-f]{72}\n$/;

/** Calls `use` with functions that run `keys` commands on a temporary store. Commands of the second function must fail. */
async function withKeys(
  use: (
    keys: (...args: string[]) => ReturnType<typeof runTask>,
    fails: (code: number, reason: RegExp, ...args: string[]) => Promise<void>,
  ) => Promise<void>,
) {
  await using store = await TempStore.make();
  await use(
    (...args) => runTask(["keys", ...args], store),
    (code, reason, ...args) => expectTaskFails(code, reason, ["keys", ...args], store),
  );
}

test("keys: issue and rotate print only the key, and list and revoke show its state", () =>
  withKeys(async (keys, fails) => {
    const list = async () => JSON.parse((await keys("list", "--json")).stdout);
    const issued = await keys("issue", "--label", "the shop", "--expires-in", "90d", "--read-only");
    assertMatch(issued.stdout, TOKEN_LINE);
    const [{ id, expiresAt: end }] = await list();
    const shownEnd = end.replace("T", " ").replace(/\.\d+Z$/, "Z");
    assertEquals(
      issued.stderr.split("\n").at(-2),
      `Issued key ${id}, valid until ${shownEnd}. Save it now: it cannot be shown again.`,
    );

    const rotated = await keys("rotate", id, "--overlap", "2h");
    assertMatch(rotated.stdout, TOKEN_LINE);
    assertMatch(rotated.stderr, new RegExp(`^Key ${id} \\(the shop\\) stays valid until `));
    assertEquals([issued.code, rotated.code], [0, 0]);

    const [old, successor, ...others] = await list();
    assertEquals(others, []);
    assertEquals([old.id, old.state, old.readOnly], [id, "retiring", true]);
    const { id: successorId, issuedAt, expiresAt, ...shown } = successor;
    assertEquals(shown, { label: "the shop", state: "live", readOnly: true });
    assertEquals(Date.parse(old.revokedAt) - Date.parse(issuedAt), 2 * 3_600_000);
    assert(Date.parse(expiresAt) > Date.parse(old.expiresAt));
    assertMatch(
      (await keys("list")).stdout,
      new RegExp(`^${id}  retiring until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\dZ  read `, "m"),
    );

    const again = /^error: Key \w+ was already rotated and is refused from .*; see keys list\n$/;
    await fails(1, again, "rotate", id);

    assertEquals((await keys("revoke", id)).stderr, `Revoked key ${id} (the shop).\n`);
    assertMatch((await keys("revoke", id)).stderr, /was already revoked/);
    const table = await keys("list");
    assertMatch(table.stdout, new RegExp(`^ID .*\n${id}  revoked .*\n${successorId}  live `));
  }));

test("keys: a command that fails exits 1 or 2 with one line that says why, and prints no key", () =>
  withKeys(async (keys, fails) => {
    await fails(
      2,
      /^error: Cannot open the store .*: there is no such file; if there should be .*\n$/,
      "list",
    );
    await fails(2, /^error: --label is required/, "issue");
    await fails(2, /^error: rotate needs the id of a key: run deno task keys list\n$/, "rotate");
    await fails(2, /^error: --overlap takes a time like 90d/, "rotate", "A", "--overlap", "soon");
    const noFile = /^error: KV_PATH must not be :memory:, .*; set it to a file\n$/;
    await expectTaskFails(2, noFile, ["keys", "issue", "--label", "x"], { kvPath: ":memory:" });
    await keys("issue", "--label", "x");
    await fails(1, /^error: No key has the id nobody; see keys list\n$/, "rotate", "nobody");
  }));

test("keys: issue and revoke take effect at the next request to a running service", async () => {
  await using temp = await TempStore.make();
  const first = await temp.issueApiKey();
  await using service = await ServiceProcess.start(temp.kvPath);
  const statusOf = async (token: string) => {
    const response = await service.send("/v1/pets", token);
    await response.body?.cancel();
    return response.status;
  };
  const second = (await expectTask(["keys", "issue", "--label", "second"], temp)).trim();
  assertEquals(await statusOf(second), 200);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, second), 201);
  const withoutUse = JSON.parse(await expectTask(["keys", "list", "--json"], temp));
  assertEquals(withoutUse.filter((key: object) => "lastUse" in key), []);
  assert(!(await expectTask(["keys", "list"], temp)).includes("LAST USE"));
  const table = await expectTask(["keys", "list", "--last-use"], temp);
  const json = await expectTask(["keys", "list", "--json", "--last-use"], temp);
  const [unused, { lastUse }] = JSON.parse(json);
  assert(!("lastUse" in unused) && Date.now() - Date.parse(lastUse) < 60_000, json);
  const uses = [...table.matchAll(/ write {3}\S+ {2}(\S+)/g)].map(([, use]) => use);
  assertEquals(uses, ["-", lastUse.slice(0, 10)]);
  const id = /^(\S+) .* second$/m.exec(table)![1];
  assert(!table.includes(second) && !table.includes("pets_"), "a list shows no secret");
  await expectTask(["keys", "revoke", id], temp);
  assertEquals(await statusOf(second), 401);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, second), 401);
  assertEquals(await statusOf(first), 200);
});

test("keys shows no control and format characters, whatever the labels and arguments", () =>
  withKeys(async (keys) => {
    const shown = "a\\u202e\\ufeff\\udb40\\udc00b";
    await keys("issue", "--label", "a\u202e\ufeff\u{e0000}b");
    const { stdout: json } = await keys("list", "--json");
    assertStringIncludes(json, shown);
    const [{ id }] = JSON.parse(json);
    assertStringIncludes((await keys("rotate", id)).stderr, `(${shown})`);
    assertMatch((await keys("list")).stdout, / retiring until .* a\\u202e/);
    const { stderr } = await keys("revoke", "\u001b[31m\u202e");
    assertStringIncludes(stderr, "the id \\u001b[31m\\u202e;");
  }));
