import { assertEquals, assertGreater, assertMatch } from "@std/assert";
import { runReplayLoad } from "../support/replay_load.ts";
import { runTask, spawnTask } from "../support/run_task.ts";
import { readLines, ServiceProcess } from "../support/service_process.ts";
import { denokvProgram, DenokvServer } from "../support/denokv_server.ts";

const ignore = denokvProgram() === undefined;

Deno.test({
  name:
    "every tool works through denokv while a service runs, and moves a catalogue to another store",
  ignore,
  async fn() {
    await using server = await DenokvServer.start();
    const run = (...args: string[]) => runWith(server, args);
    const token = (await run("keys", "issue", "--label", "shop")).trim();
    await using service = await ServiceProcess.start(server.address, envOf(server));
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
    assertEquals(exported.trim().split("\n").length, 9);
    await using copy = await DenokvServer.start();
    const stdin = new TextEncoder().encode(exported);
    const restored = await runTask(["restore", "-"], { ...optionsOf(copy), stdin });
    assertEquals(restored.code, 0, restored.stderr);
    assertEquals(await runWith(copy, ["log"]), exported);
    await runWith(copy, ["audit"]);
    await using moved = await ServiceProcess.start(copy.address, envOf(copy));
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

Deno.test({
  name: "log --follow prints every position once and in order while two services write to denokv",
  ignore,
  async fn() {
    await using server = await DenokvServer.start();
    const token = (await runWith(server, ["keys", "issue", "--label", "shop"])).trim();
    const env = envOf(server);
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

Deno.test({
  name: "replay through denokv: clients of two services see no failure and no stale response",
  ignore,
  async fn() {
    await using server = await DenokvServer.start();
    Deno.env.set("DENO_KV_ACCESS_TOKEN", server.token);
    const load = { connections: 16, pets: 500, kills: 0 };
    const { outcomes: { created, listed, read } } = await runReplayLoad(server.address, load);
    for (const count of [created, listed, read]) assertGreater(count, 0);
  },
});

function envOf({ token }: DenokvServer): Record<string, string> {
  return { DENO_KV_ACCESS_TOKEN: token };
}

function optionsOf(server: DenokvServer) {
  return { kvPath: server.address, env: envOf(server) };
}

/** Runs a tool that must succeed, and resolves to its standard output. */
async function runWith(server: DenokvServer, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runTask(args, optionsOf(server));
  assertEquals(code, 0, stderr);
  return stdout;
}
