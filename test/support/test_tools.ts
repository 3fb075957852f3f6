import { assertEquals, assertGreater, assertLess, assertMatch } from "@std/assert";
import { openRealStore } from "./real_store.ts";
import { runReplayLoad } from "./replay_load.ts";
import { runTask, spawnTask } from "./run_task.ts";
import { readLines, ServiceProcess } from "./service_process.ts";
import type { StoreServer, StoreServers } from "./store_server.ts";

/** Maximum time until an event is accepted, or in a backup, after the store is back. */
const RETURN_LIMIT_MS = 10_000;

/** Declares the tests of all tools on a store that is reached over a network. */
export function testTools({ name, ignore, start }: StoreServers): void {
  const test = (definition: { name: string; fn: () => Promise<void> }) =>
    Deno.test({ ...definition, name: `${name}: ${definition.name}`, ignore });

  test({
    name: "every tool works while a service runs, and moves a catalogue to another store",
    async fn() {
      await using server = await start();
      const run = (...args: string[]) => runWith(server, args);
      const token = (await run("keys", "issue", "--label", "shop")).trim();
      await using service = await ServiceProcess.start(server.address, server.env);
      for (let id = 1; id <= 5; id++) {
        assertEquals(await service.add({ name: `Animal ${id}`, categoryId: id }, token), 201);
      }
      const keys = await run("keys", "list");
      assertMatch(keys, / live .* shop\n/);
      const keyId = /^([0-9A-Z]{26}) +live/m.exec(keys)![1];
      const successor = (await run("keys", "rotate", keyId, "--overlap", "1h")).trim();
      assertEquals(await service.add({ name: "Animal 6", categoryId: 6 }, successor), 201);
      await run("audit");
      await run("replay", "--dry-run");
      await run("replay", "--grace", "0");
      await run("audit");

      const exported = await run("log");
      const file = await Deno.makeTempFile();
      assertMatch(await run("backup", file), /^\{"position":9,"hash":"\w{64}"\}\n$/);
      assertEquals(await Deno.readTextFile(file), exported);
      await Deno.remove(file);
      assertEquals(exported.trim().split("\n").length, 9);
      await using copy = await start();
      const stdin = new TextEncoder().encode(exported);
      const restored = await runTask(["restore", "-"], { ...optionsOf(copy), stdin });
      assertEquals(restored.code, 0, restored.stderr);
      assertEquals(await runWith(copy, ["log"]), exported);
      await runWith(copy, ["audit"]);
      await using moved = await ServiceProcess.start(copy.address, copy.env);
      const [before, after] = await Promise.all([service, moved].map(async (one) => {
        const response = await one.send("/v1/pets?limit=100", successor);
        return [response.status, await response.text()];
      }));
      assertEquals(after, before);
      assertEquals(after[0], 200);

      const ids = (await run("keys", "list")).match(/^[0-9A-Z]{26}(?= )/gm)!;
      const successorId = ids.find((id) => id !== keyId)!;
      await run("keys", "revoke", successorId);
      assertEquals((await service.send("/v1/pets", successor)).status, 401);
      assertEquals((await moved.send("/v1/pets", successor)).status, 200);
    },
  });

  test({
    name: "log --follow prints every position once and in order while two services write",
    async fn() {
      await using server = await start();
      const token = (await runWith(server, ["keys", "issue", "--label", "shop"])).trim();
      const env = server.env;
      await using one = await ServiceProcess.start(server.address, env);
      await using other = await ServiceProcess.start(server.address, env);
      const follower = spawnTask(["log", "--follow"], optionsOf(server));
      const each = 40;
      const lines: string[] = [];
      const seen = Promise.withResolvers<void>();
      const reading = readLines(follower.stdout, (line) => {
        if (lines.push(line) === 1 + 2 * each) seen.resolve();
      });
      await Promise.all([one, other].map(async (service) => {
        for (let count = 0; count < each; count++) {
          assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
        }
      }));
      await seen.promise;
      follower.kill("SIGTERM");
      assertEquals((await follower.status).code, 0);
      await reading;
      await follower.stderr.cancel();
      await follower.stdin.close();
      assertEquals(lines.map((line) => `${line}\n`).join(""), await runWith(server, ["log"]));
    },
  });

  test({
    name: "replay: clients of two services see no failure and no stale response",
    async fn() {
      await using server = await start();
      (await openRealStore(server.address, server.env)).close();
      const load = { connections: 16, pets: 500, kills: 0 };
      const { outcomes: { created, listed, read } } = await runReplayLoad(server.address, load);
      for (const count of [created, listed, read]) assertGreater(count, 0);
    },
  });

  test({
    name: "backup --follow waits while the store is away, and continues when it is back",
    async fn() {
      await using server = await start();
      const token = (await runWith(server, ["keys", "issue", "--label", "test"])).trim();
      await using service = await ServiceProcess.start(server.address, server.env);
      const folder = await Deno.makeTempDir();
      const file = `${folder}/pets.jsonl`;
      const follower = spawnTask(["backup", file, "--follow"], optionsOf(server));
      const errors: string[] = [];
      const reading = [
        readLines(follower.stderr, (line) => errors.push(line)),
        follower.stdout.cancel(),
      ];
      try {
        for (let round = 1; round <= 2; round++) {
          await addUntilAccepted(service, token);
          await becomes(file, await runWith(server, ["log"]));
          await server.kill();
          await new Promise((resolve) => setTimeout(resolve, round * 3_000));
          await server.start();
        }
        await addUntilAccepted(service, token);
        await becomes(file, await runWith(server, ["log"]));
      } finally {
        follower.kill("SIGTERM");
        await Promise.all([follower.status, follower.stdin.close(), ...reading]);
        await Deno.remove(folder, { recursive: true });
      }
      // Deno's KV client writes its own failures, too.
      const words = errors.filter((line) => !line.startsWith("KV Connect")).join("\n");
      assertMatch(words, /waiting until the store answers again\nThe store is available again\./);
      assertMatch(words, /\nStopped\. .* ends at position \d+\. Run the same command again/);
      assertEquals((await follower.status).code, 0);
    },
  });
}

function optionsOf({ address, env }: StoreServer) {
  return { kvPath: address, env };
}

/** Runs a tool that must succeed, and resolves to its standard output. */
async function runWith(server: StoreServer, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runTask(args, optionsOf(server));
  assertEquals(code, 0, stderr);
  return stdout;
}

async function addUntilAccepted(service: ServiceProcess, token: string): Promise<void> {
  const started = performance.now();
  while (await service.add({ name: "Rex", categoryId: 1 }, token) !== 201) {
    assertLess(performance.now() - started, RETURN_LIMIT_MS);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Resolves when the file is there and has that content. */
async function becomes(file: string, content: string): Promise<void> {
  const started = performance.now();
  while (await Deno.readTextFile(file).catch(() => undefined) !== content) {
    assertLess(performance.now() - started, RETURN_LIMIT_MS);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
