import { assertEquals, assertLess, assertMatch } from "@std/assert";
import { denokvProgram, DenokvServer } from "../support/denokv_server.ts";
import { runTask, spawnTask } from "../support/run_task.ts";
import { readLines, ServiceProcess } from "../support/service_process.ts";

/** Maximum time until an event is in the file after the store is back. */
const SEEN_LIMIT_MS = 10_000;

Deno.test({
  name: "backup --follow waits while the store is away, and continues when it is back",
  ignore: denokvProgram() === undefined,
  async fn() {
    await using server = await DenokvServer.start();
    const env = { DENO_KV_ACCESS_TOKEN: server.token };
    const options = { kvPath: server.address, env };
    const issued = await runTask(["keys", "issue", "--label", "test"], options);
    const token = issued.stdout.trim();
    await using service = await ServiceProcess.start(server.address, env);
    const folder = await Deno.makeTempDir();
    const file = `${folder}/pets.jsonl`;
    const follower = spawnTask(["backup", file, "--follow"], options);
    const errors: string[] = [];
    const reading = [
      readLines(follower.stderr, (line) => errors.push(line)),
      follower.stdout.cancel(),
    ];
    try {
      for (let round = 1; round <= 2; round++) {
        await addUntilAccepted(service, token);
        await ends(file, (await runTask(["log"], options)).stdout);
        await server.kill();
        await new Promise((resolve) => setTimeout(resolve, round * 3_000));
        await server.start();
      }
      await addUntilAccepted(service, token);
      await ends(file, (await runTask(["log"], options)).stdout);
    } finally {
      follower.kill("SIGTERM");
      await Promise.all([follower.status, follower.stdin.close(), ...reading]);
      await Deno.remove(folder, { recursive: true });
    }
    // Deno's KV client writes its own failures, too.
    const words = errors.filter((line) => !line.startsWith("KV Connect")).join("\n");
    assertMatch(words, /waiting until the store answers again\nThe store is available again\./);
    assertMatch(errors.at(-1)!, /^Stopped\. .* ends at position \d+\. Run the same command again/);
    assertEquals((await follower.status).code, 0);
  },
});

async function addUntilAccepted(service: ServiceProcess, token: string): Promise<void> {
  const started = performance.now();
  while (await service.add({ name: "Rex", categoryId: 1 }, token) !== 201) {
    assertLess(performance.now() - started, SEEN_LIMIT_MS);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Resolves when the file has that content. */
async function ends(file: string, content: string): Promise<void> {
  const started = performance.now();
  while (await Deno.readTextFile(file) !== content) {
    assertLess(performance.now() - started, SEEN_LIMIT_MS);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
