import { assert, assertEquals, assertMatch } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { runTask, spawnTask } from "../support/run_task.ts";
import { readLines, ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";

const ignore = !permitted("run", "read", "write", "env", "net");

/** Maximum time until the last event is printed, on a busy machine. */
const SEEN_LIMIT_MS = 30_000;

/** A temporary store file with one key. */
async function withStore(use: (kvPath: string, token: string) => Promise<void>): Promise<void> {
  await using store = await TempStore.make();
  await use(store.kvPath, await store.issueKey());
}

function positionsOf(lines: string[]): number[] {
  return lines.map((line) => Number(JSON.parse(line).sequence));
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

Deno.test({
  name: "log --follow prints every position once and in order while two services write",
  ignore,
  fn: () =>
    withStore(async (kvPath, token) => {
      const each = 60;
      const last = 1 + 2 * each;
      const follower = spawnTask(["log", "--follow"], { kvPath });
      await using one = await ServiceProcess.start(kvPath);
      await using other = await ServiceProcess.start(kvPath);
      const lines: string[] = [];
      const seen = Promise.withResolvers<void>();
      const reading = readLines(follower.stdout, (line) => {
        if (lines.push(line) === last) seen.resolve();
      });
      const addAll = async (service: ServiceProcess) => {
        for (let batch = 0; batch < each; batch += 4) {
          const statuses = await Promise.all(
            Array.from({ length: 4 }, () => service.add({ name: "Rex", categoryId: 1 }, token)),
          );
          assertEquals(statuses, [201, 201, 201, 201]);
        }
      };
      await Promise.all([addAll(one), addAll(other)]);
      const late = AbortSignal.timeout(SEEN_LIMIT_MS);
      late.onabort = () => seen.reject(new Error(`only ${lines.length} of ${last} lines came`));
      await seen.promise;
      late.onabort = null;
      follower.kill("SIGTERM");
      const { code } = await follower.status;
      await reading;
      assertEquals(positionsOf(lines), upTo(last));
      assertEquals(code, 0, await new Response(follower.stderr).text());
      const { stdout } = await runTask(["log"], { kvPath });
      assertEquals(stdout, lines.map((line) => `${line}\n`).join(""));
      await follower.stdin.close();
    }),
});

Deno.test({
  name:
    "log --follow exits 0 on SIGINT, at its last position, and at an event after its pipe was closed",
  ignore,
  fn: () =>
    withStore(async (kvPath, token) => {
      const bounded = await runTask(["log", "--follow", "--to", "1"], { kvPath });
      assertEquals([bounded.code, positionsOf([bounded.stdout])], [0, [1]], bounded.stderr);

      const interrupted = spawnTask(["log", "--follow"], { kvPath });
      const reader = interrupted.stdout.getReader();
      assert(!(await reader.read()).done);
      interrupted.kill("SIGINT");
      assertEquals((await interrupted.status).code, 0);
      reader.releaseLock();

      const unread = spawnTask(["log", "--follow"], { kvPath });
      const pipe = unread.stdout.getReader();
      assert(!(await pipe.read()).done);
      await pipe.cancel();
      await using service = await ServiceProcess.start(kvPath);
      assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
      assertEquals((await unread.status).code, 0);
      for (const child of [interrupted, unread]) {
        assertEquals(await new Response(child.stderr).text(), "");
        await child.stdin.close();
      }
    }),
});

Deno.test({
  name: "log --pretty shows time, position, type, subject and actor, without colours in a pipe",
  ignore,
  fn: () =>
    withStore(async (kvPath) => {
      const { code, stdout } = await runTask(["log", "--pretty"], {
        kvPath,
        env: { NO_COLOR: "" },
      });
      assertEquals(code, 0);
      assertMatch(stdout, /^\S+T\S+Z +1 ApiKeyIssued {2}keys\/\w{26} operator\n$/);
    }),
});

Deno.test({
  name: "log prints the requested part, and refuses arguments that are not valid",
  ignore,
  fn: () =>
    withStore(async (kvPath) => {
      for (const label of ["b", "c"]) {
        await runTask(["keys", "issue", "--label", label], { kvPath });
      }
      const positions = async (...args: string[]) => {
        const { code, stdout, stderr } = await runTask(["log", ...args], { kvPath });
        assertEquals(code, 0, stderr);
        return positionsOf(stdout.split("\n").slice(0, -1));
      };
      assertEquals(await positions(), [1, 2, 3]);
      assertEquals(await positions("--from", "2"), [2, 3]);
      assertEquals(await positions("--from", "2", "--to", "2"), [2]);
      assertEquals(await positions("--last", "1"), [3]);
      assertEquals(await positions("--last", "9"), [1, 2, 3]);
      assertEquals(await positions("--from", "4"), []);
      assertEquals(await positions("--type", "PetCreated"), []);
      const wrong: [string[], RegExp][] = [
        [["--from", "0"], /--from takes a position/],
        [["--from", "1", "--last", "1"], /cannot be used together/],
        [["--type", "PetSold"], /--type takes one of PetCreated/],
        [["--colour"], /colour/],
      ];
      for (const [args, words] of wrong) {
        const { code, stdout, stderr } = await runTask(["log", ...args], { kvPath });
        assertEquals([code, stdout], [2, ""]);
        assertMatch(stderr, words);
      }
    }),
});

Deno.test({
  name: "log says that a position is missing, and does not exit 0",
  ignore,
  fn: () =>
    withStore(async (kvPath) => {
      for (const label of ["b", "c"]) {
        await runTask(["keys", "issue", "--label", label], { kvPath });
      }
      const kv = await Deno.openKv(kvPath);
      await kv.delete(["log", 2]);
      kv.close();
      for (const args of [[], ["--follow"], ["--pretty"]]) {
        const { code, stderr } = await runTask(["log", ...args], { kvPath });
        assertEquals(code, 2);
        assertEquals(stderr, "error: Position 2 of the log is missing; run deno task audit\n");
      }
    }),
});
