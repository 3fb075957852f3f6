import { assert, assertEquals, assertMatch } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { runTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { assertSoundLog } from "../support/sound_log.ts";
import { TempStore } from "../support/temp_store.ts";

const ignore = !permitted("run", "read", "write", "env", "net");

const TOKEN_LINE = /^pets_[0-9a-f]{72}\n$/;

/** Calls `use` with a function that runs `keys` commands on a temporary store. */
async function withKeys(
  use: (keys: (...args: string[]) => ReturnType<typeof runTask>) => Promise<void>,
) {
  await using store = await TempStore.make();
  await use((...args) => runTask(["keys", ...args], store));
}

Deno.test({
  name: "keys: issue and rotate print only the key, and list and revoke show its state",
  ignore,
  fn: () =>
    withKeys(async (keys) => {
      const issued = await keys("issue", "--label", "the shop", "--expires-in", "90d");
      assertEquals(issued.code, 0, issued.stderr);
      assertMatch(issued.stdout, TOKEN_LINE);
      const [{ id }] = JSON.parse((await keys("list", "--json")).stdout);

      const rotated = await keys("rotate", id, "--overlap", "2h");
      assertEquals(rotated.code, 0, rotated.stderr);
      assertMatch(rotated.stdout, TOKEN_LINE);
      assertMatch(rotated.stderr, new RegExp(`^Key ${id} \\(the shop\\) stays valid until `));

      const { stdout } = await keys("list", "--json");
      const [old, successor, ...others] = JSON.parse(stdout);
      assertEquals(others, []);
      assertEquals([old.id, old.state], [id, "live"]);
      assertEquals(Object.keys(successor), ["id", "label", "state", "issuedAt", "expiresAt"]);
      assertEquals([successor.label, successor.state], ["the shop", "live"]);
      assertEquals(Date.parse(old.revokedAt) - Date.parse(successor.issuedAt), 2 * 3_600_000);

      const again = await keys("rotate", id);
      assertEquals([again.code, again.stdout], [1, ""]);
      assertMatch(again.stderr, /^error: Key \w+ was already rotated and is refused from /);

      assertEquals((await keys("revoke", id)).stderr, `Revoked key ${id} (the shop).\n`);
      assertMatch((await keys("revoke", id)).stderr, /was already revoked/);
      const table = await keys("list");
      assertMatch(table.stdout, new RegExp(`^ID .*\n${id}  revoked .*\n${successor.id}  live `));
    }),
});

Deno.test({
  name: "keys: a command that fails exits 1 or 2 with one line that says why, and prints no key",
  ignore,
  fn: () =>
    withKeys(async (keys) => {
      const cases: [string[], number, RegExp][] = [
        [["list"], 2, /^error: Cannot open the store .*: there is no such file\n$/],
        [["issue"], 2, /^error: --label is required/],
        [
          ["issue", "--label", "x", "--overlap", "1h"],
          2,
          /^error: --overlap cannot be used with issue/,
        ],
        [["rotate"], 2, /^error: rotate needs the id of a key/],
        [["rotate", "A", "B"], 2, /^error: Unexpected argument "B"/],
      ];
      for (const [args, code, words] of cases) {
        const outcome = await keys(...args);
        assertEquals([outcome.code, outcome.stdout], [code, ""], args.join(" "));
        assertMatch(outcome.stderr, words);
      }
      await keys("issue", "--label", "x");
      const unknown = await keys("rotate", "nobody");
      assertEquals([unknown.code, unknown.stdout], [1, ""]);
      assertEquals(unknown.stderr, "error: No key has the id nobody; see keys list\n");
      const wrong = await keys("rotate", "nobody", "--overlap", "soon");
      assertMatch(wrong.stderr, /^error: --overlap takes a time like 90d/);
      assertEquals(wrong.code, 2);
    }),
});

Deno.test({
  name: "keys: issue and revoke take effect at the next request to a running service",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const first = await temp.issueKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    const options = { kvPath: temp.kvPath };
    const statusOf = async (token: string) => {
      const response = await service.send("/v1/pets", token);
      await response.body?.cancel();
      return response.status;
    };
    const { stdout } = await runTask(["keys", "issue", "--label", "second"], options);
    const second = stdout.trim();
    assertEquals(await statusOf(second), 200);
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, second), 201);
    const { stdout: table } = await runTask(["keys", "list"], options);
    const id = /^(\S+) .* second$/m.exec(table)![1];
    assert(!table.includes(second) && !table.includes("pets_"), "a list shows no secret");
    assertEquals((await runTask(["keys", "revoke", id], options)).code, 0);
    assertEquals(await statusOf(second), 401);
    assertEquals(await service.add({ name: "Rex", categoryId: 1 }, second), 401);
    assertEquals(await statusOf(first), 200);
    assertMatch(
      (await runTask(["keys", "list"], options)).stdout,
      new RegExp(`^${id} +revoked`, "m"),
    );
    const { stdout: log } = await runTask(["log"], options);
    assertEquals(assertSoundLog(log.trimEnd().split("\n")).length, 1);
  },
});
