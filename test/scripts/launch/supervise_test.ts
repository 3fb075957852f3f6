import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { LoadClient } from "../../support/load_client.ts";
import { runTask } from "../../support/run_task.ts";
import { LAUNCHED, ServiceProcess } from "../../support/service_process.ts";
import { childrenOf } from "../../support/store_server.ts";
import { TempStore } from "../../support/temp_store.ts";
import { test } from "../../support/test_processes.ts";
import { until } from "../../support/until.ts";

/** Starts a service of three processes on a store, which may be new, and waits until all of them listen. */
async function startAll({ kvPath }: TempStore): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(kvPath, { PROCESSES: "3" }, LAUNCHED);
  await until(() => linesOf(service, "listening").length === 3);
  return service;
}

/** The lines of an event so far. A line that is not JSON is an error. */
function linesOf({ lines }: ServiceProcess, event: string) {
  return lines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
}

test("PROCESSES: a killed process starts again after a delay that doubles, and nothing acknowledged is lost", async () => {
  await using temp = await TempStore.make();
  await using service = await startAll(temp);
  const token = await temp.issueKey();
  const options = { token, connections: 16, faults: "process", changes: true } as const;
  const load = new LoadClient({ ...options, services: () => [service] });
  let kills = 0;
  const running = load.run(() => kills === 4);
  for (; kills < 4; kills++) {
    // The newest process is the one that was killed before.
    Deno.kill(childrenOf(service.pid).at(-1)!, "SIGKILL");
    const acknowledged = load.acknowledged.size;
    await until(() => linesOf(service, "listening").length === 4 + kills);
    assertGreater(load.acknowledged.size, acknowledged, "The other processes do not serve");
  }
  await running;
  const listening = linesOf(service, "listening");
  assertEquals(listening.slice(0, 3).map((line) => line.process).sort(), [1, 2, 3]);
  assertEquals(new Set(listening.map((line) => line.port)).size, 1);
  for (const [index, line] of linesOf(service, "process_ended").entries()) {
    const again = listening[3 + index];
    assertEquals([line.code, line.signal, line.process], [137, "SIGKILL", again.process]);
    assertGreater(Date.parse(again.time) - Date.parse(line.time), 100 * 2 ** index);
  }
  await load.expectServed(service);
  await temp.use((operator) => load.expectLogged(operator));
});

/** The exit code after each signal to the launcher, and what the processes log. */
const SIGNALS: [signal: Deno.Signal, code: number, logged?: string][] = [
  ["SIGTERM", 0, "SIGTERM"],
  ["SIGINT", 0, "SIGINT"],
  ["SIGHUP", 129],
  ["SIGKILL", 137, "SIGTERM"],
];

for (const [signal, code, logged] of SIGNALS) {
  test(`PROCESSES: ${signal} to the launcher ends all processes within five seconds`, async () => {
    await using temp = await TempStore.make();
    await using service = await startAll(temp);
    const begin = performance.now();
    // It resolves when the last process that inherited standard error has ended.
    assertEquals(await service.stop(signal), code);
    assert(performance.now() - begin < 5_000);
    const stops = linesOf(service, "shutting_down").map((line) => line.signal);
    assertEquals(stops, logged === undefined ? [] : Array(3).fill(logged));
  });
}

test("PROCESSES: a port in use is refused, and two processes that cannot start end all", async () => {
  await using temp = await TempStore.make();
  await using service = await startAll(temp);
  const { port } = new URL(service.address);
  const missing = { kvPath: `${temp.folder}/missing/pets.sqlite3` };
  const fails = async (
    store: { kvPath: string },
    PORT: string,
    PROCESSES: string,
    error: RegExp,
  ) => {
    const env = { HOST: "127.0.0.1", PORT, PROCESSES };
    const { code, stderr } = await runTask(["start"], { ...store, env });
    assertEquals(code, 2);
    assertMatch(stderr, error);
  };
  await fails(temp, port, "1", /^error: [^\n]+ the port is in use; set PORT to another\n$/);
  await fails(temp, port, "2", /^error: [^\n]+ the port is in use; set PORT to another\n$/);
  await fails(missing, "0", "4", /^error: Cannot open the store .*: its folder does not exist; /m);
});
