/** Supervisors that start on one port at one moment. */

import { createSocket } from "node:dgram";
import { assertEquals, assertMatch } from "@std/assert";
import { freePort } from "../../support/free_port.ts";
import { outcomeOf, spawnTask } from "../../support/run_task.ts";
import { AS_TASK, ServiceProcess, SUPERVISED } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";

const test = testNeeding(PROCESSES);

const ROUNDS = 3;

/** Starts a supervisor, or a service of one process, on a store of its own, without Deno's task runner. */
function start(temp: TempStore, hostname: string, port: number, processes: number) {
  const env = { HOST: hostname, PORT: `${port}`, PROCESSES: `${processes}` };
  const process = spawnTask(["start"], { kvPath: temp.kvPath, env, detached: true });
  const started = {
    process,
    code: undefined as number | undefined,
    outcome: outcomeOf(process),
  };
  process.status.then(({ code }) => started.code = code);
  return started;
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

/** Starts two of them at one moment, and asserts that one of them serves and the other one exits with 2. */
async function compete(hosts: [string, string], processes: [number, number]): Promise<string> {
  await using one = await TempStore.make();
  await using other = await TempStore.make();
  const tokens = [await one.issueApiKey(), await other.issueApiKey()];
  const port = freePort();
  const started = [one, other].map((temp, index) =>
    start(temp, hosts[index], port, processes[index])
  );
  try {
    await until(() => started.some(({ code }) => code !== undefined), "Both serve");
    const winner = started.findIndex(({ code }) => code === undefined);
    const loser = 1 - winner;
    await until(() => statusesWith(tokens[winner], port));
    assertEquals(await statusesWith(tokens[winner], port), [200]);
    assertEquals(await statusesWith(tokens[loser], port), [401]);
    const { code, stderr } = await started[loser].outcome;
    assertEquals([started[winner].code, code], [undefined, 2], stderr);
    return stderr.replace(hosts[loser], "HOST").replace(`${port}`, "PORT");
  } finally {
    for (const { process, code, outcome } of started) {
      if (code === undefined) process.kill("SIGTERM");
      await outcome;
    }
  }
}

const REFUSED =
  "error: Cannot listen on HOST:PORT (HOST, PORT): the port is in use; set PORT to another\n";

test("Of two supervisors on one port, one is refused, always", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    assertEquals(await compete(["127.0.0.1", "127.0.0.1"], [2, 2]), REFUSED);
  }
});

test("Of two supervisors with overlapping addresses, one is refused", async () => {
  for (const hosts of [["0.0.0.0", "127.0.0.1"], ["127.0.0.1", "::"]] as [string, string][]) {
    assertEquals(await compete(hosts, [2, 2]), REFUSED);
  }
});

test("Of a supervisor and a single process, one is refused", async () => {
  assertEquals(await compete(["127.0.0.1", "127.0.0.1"], [1, 2]), REFUSED);
});

test("The port of a supervisor that was killed is free again for the next one", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  const port = freePort();
  for (let round = 0; round < 2; round++) {
    const killed = start(temp, "127.0.0.1", port, 2);
    await until(() => statusesWith(token, port));
    killed.process.kill("SIGKILL");
    // It also resolves only when the processes of the supervisor have ended.
    await killed.outcome;
  }
});

test("A process whose supervisor was killed before it looks ends, too", async () => {
  await using temp = await TempStore.make();
  await temp.issueApiKey();
  // Its parent is this test, and not a supervisor with that id.
  const env = { SUPERVISED_PROCESS: "1", SUPERVISOR_PID: "1" };
  await using service = await ServiceProcess.start(temp.kvPath, env, AS_TASK);
  assertEquals(await service.ended(), 0);
  assertMatch(service.lines.at(-1)!, /"event":"stopped"/);
});

test("Datagrams to the reserved port end no process", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await ServiceProcess.start(temp.kvPath, { PROCESSES: "2" }, SUPERVISED);
  await until(() => service.lines.filter((line) => line.includes('"listening"')).length === 2);
  const port = Number(new URL(service.address).port);
  const socket = createSocket("udp4");
  for (const length of [0, 1, 1_500, 60_000]) {
    await new Promise((resolve) => socket.send(new Uint8Array(length), port, "127.0.0.1", resolve));
  }
  socket.close();
  assertEquals(await statusesWith(token, port), [200]);
  assertEquals(await service.stop(), 0, service.lines.join("\n"));
});
