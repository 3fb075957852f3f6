/** Launchers that start on one port at one moment. */

import { assertEquals } from "@std/assert";
import { freePort } from "../../support/free_port.ts";
import { outcomeOf, spawnTask } from "../../support/run_task.ts";
import { DENO_RUN } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

const ROUNDS = 10;

/** Starts a launcher on a store of its own, without Deno's task runner. */
function launch(temp: TempStore, hostname: string, port: number, processes: number) {
  const env = { HOST: hostname, PORT: `${port}`, PROCESSES: `${processes}` };
  const launcher = spawnTask(["start"], { kvPath: temp.kvPath, env, detached: true });
  const launched = {
    launcher,
    code: undefined as number | undefined,
    outcome: outcomeOf(launcher),
  };
  launcher.status.then(({ code }) => launched.code = code);
  return launched;
}

/** The statuses of requests with a key, each on a connection of its own, which the system may give to any process. */
async function statusesWith(token: string, port: number): Promise<number[]> {
  const headers = { authorization: `Bearer ${token}`, connection: "close" };
  const statuses = new Set<number>();
  for (let count = 0; count < 30; count++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers });
    await response.body?.cancel();
    statuses.add(response.status);
  }
  return [...statuses];
}

/** Starts two launchers at one moment, and asserts that one of them serves and the other one exits with 2. */
async function compete(hosts: [string, string], processes: [number, number]): Promise<string> {
  await using one = await TempStore.make();
  await using other = await TempStore.make();
  const tokens = [await one.issueKey(), await other.issueKey()];
  const port = freePort();
  const launched = [one, other].map((temp, index) =>
    launch(temp, hosts[index], port, processes[index])
  );
  try {
    await until(() => launched.some(({ code }) => code !== undefined), "Both launchers serve");
    const winner = launched.findIndex(({ code }) => code === undefined);
    const loser = 1 - winner;
    await until(() => statusesWith(tokens[winner], port));
    assertEquals(await statusesWith(tokens[winner], port), [200]);
    assertEquals(await statusesWith(tokens[loser], port), [401]);
    const { code, stderr } = await launched[loser].outcome;
    assertEquals([launched[winner].code, code], [undefined, 2], stderr);
    return stderr.replace(hosts[loser], "HOST").replace(`${port}`, "PORT");
  } finally {
    for (const { launcher, code, outcome } of launched) {
      if (code === undefined) launcher.kill("SIGTERM");
      await outcome;
    }
  }
}

const REFUSED =
  "error: Cannot listen on HOST:PORT (HOST, PORT): the port is in use; set PORT to another\n";

test("Of two launchers of several processes on one port, one is refused, always", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    assertEquals(await compete(["127.0.0.1", "127.0.0.1"], [2, 2]), REFUSED);
  }
});

test("Of two launchers with overlapping addresses, one is refused", async () => {
  for (const hosts of [["0.0.0.0", "127.0.0.1"], ["127.0.0.1", "::"]] as [string, string][]) {
    assertEquals(await compete(hosts, [2, 2]), REFUSED);
  }
});

test("Of a launcher of several processes and one of a single process, one is refused", async () => {
  for (let round = 0; round < 3; round++) await compete(["127.0.0.1", "127.0.0.1"], [1, 2]);
});

test("The port of a launcher that was killed is free again for the next one", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueKey();
  const port = freePort();
  for (let round = 0; round < 2; round++) {
    const killed = launch(temp, "127.0.0.1", port, 2);
    await until(() => statusesWith(token, port));
    killed.launcher.kill("SIGKILL");
    // It also resolves only when the processes of the launcher have ended.
    await killed.outcome;
  }
});

test("A process whose launcher was killed before it listens does not serve", async () => {
  await using temp = await TempStore.make();
  const [command, ...args] = DENO_RUN;
  const address = { HOST: "127.0.0.1", PORT: `${freePort()}`, KV_PATH: temp.kvPath };
  const process = new Deno.Command(command, {
    args: [...args, "src/main.ts"],
    cwd: ROOT,
    // Its parent is this test, and not a launcher with that id.
    env: { ...address, NO_COLOR: "1", LAUNCHED_PROCESS: "1", LAUNCHER_PID: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(20_000),
  }).spawn();
  const stderr = "error: The launcher of this process has ended\n";
  assertEquals(await outcomeOf(process), { code: 2, stdout: "", stderr });
  await process.stdin.close().catch(() => {});
});
