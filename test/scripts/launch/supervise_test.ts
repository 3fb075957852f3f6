import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { supervise } from "../../../scripts/launch/supervise.ts";
import { LoadClient } from "../../support/load_client.ts";
import { runTask } from "../../support/run_task.ts";
import { LAUNCHED, ServiceProcess } from "../../support/service_process.ts";
import { childrenOf } from "../../support/store_server.ts";
import { TempStore } from "../../support/temp_store.ts";
import { test } from "../../support/test_processes.ts";
import { until } from "../../support/until.ts";

const PROCESSES = 3;

/** Starts a service of several processes, and waits until all of them listen. */
async function startAll(kvPath: string): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(kvPath, { PROCESSES: `${PROCESSES}` }, LAUNCHED);
  await until(() => eventsOf(service, "listening").length === PROCESSES);
  return service;
}

/** The lines of an event so far. A line that is not JSON is an error of a start. */
function eventsOf({ lines }: ServiceProcess, event: string): Record<string, unknown>[] {
  return lines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`PROCESSES: ${signal} ends all processes, after kill -9 of single ones under load lost nothing`, async () => {
    await using temp = await TempStore.make();
    // All of them start at once on a new store.
    await using service = await startAll(temp.kvPath);
    const listening = eventsOf(service, "listening");
    assertEquals(listening.map((line) => line.process).sort(), [1, 2, 3]);
    assertEquals(new Set(listening.map((line) => line.port)).size, 1);
    const token = await temp.issueKey();
    const services = () => [service];
    const options = { services, token, connections: 16, faults: "process", changes: true } as const;
    const load = new LoadClient(options);
    let isOver = false;
    const running = load.run(() => isOver);
    for (let kill = 1; kill <= 4; kill++) {
      const acknowledged = load.acknowledged.size;
      await until(() => load.acknowledged.size > acknowledged + 50);
      const [victim] = childrenOf(service.pid);
      Deno.kill(victim, "SIGKILL");
      await until(() => eventsOf(service, "listening").length === PROCESSES + kill);
    }
    isOver = true;
    await running;
    for (const line of eventsOf(service, "process_ended")) {
      assertEquals([line.level, line.code, line.signal], ["error", 137, "SIGKILL"]);
    }
    assertEquals(eventsOf(service, "process_ended").length, 4);
    const begin = performance.now();
    assertEquals(await service.stop(signal), 0);
    assert(performance.now() - begin < 5_000);
    assertEquals(eventsOf(service, "stopped").map((line) => line.process).sort(), [1, 2, 3]);
    await temp.use((operator) => load.expectLogged(operator));
  });
}

test("PROCESSES: the processes end if the launcher is killed", async () => {
  await using temp = await TempStore.make();
  await using service = await startAll(temp.kvPath);
  // It resolves when standard error closes, when the last process that inherited it has ended.
  await service.stop("SIGKILL");
  const reasons = eventsOf(service, "shutting_down").map((line) => line.signal);
  assertEquals(reasons, Array(PROCESSES).fill("end of the launcher"));
});

test("PROCESSES: a port in use is refused, and two processes that cannot start end all with the reason", async () => {
  await using temp = await TempStore.make();
  await using service = await startAll(temp.kvPath);
  const { port } = new URL(service.address);
  const env = { HOST: "127.0.0.1", PORT: port };
  for (const count of ["1", "2"]) {
    const refused = await runTask(["start"], { ...temp, env: { ...env, PROCESSES: count } });
    const reason = "(HOST, PORT): the port is in use; set PORT to another";
    const stderr = `error: Cannot listen on 127.0.0.1:${port} ${reason}\n`;
    assertEquals(refused, { code: 2, stdout: "", stderr });
  }
  const kvPath = `${temp.folder}/missing/pets.sqlite3`;
  const failed = await runTask(["start"], { kvPath, env: { PORT: "0", PROCESSES: "4" } });
  assertEquals(failed.code, 2);
  assertMatch(
    failed.stderr,
    /^error: Cannot open the store .*: its folder does not exist; create /,
  );
});

test("supervise() starts a process again after a delay that doubles, until it is stopped", async () => {
  const starts: number[][] = [[], []];
  const { ended, stop } = supervise(2, (number) => {
    starts[number - 1].push(performance.now());
    // The second one runs.
    const script = number === 1 ? "kill -9 $$" : "exec sleep 60";
    return new Deno.Command("sh", { args: ["-c", script] }).spawn();
  });
  await until(() => starts[0].length === 4);
  stop("SIGTERM");
  assertEquals(await ended, 143);
  const delays = starts[0].slice(1).map((start, index) => start - starts[0][index]);
  for (const [index, delay] of delays.entries()) assertGreater(delay, 100 * 2 ** index - 5);
  assertEquals(starts.map((it) => it.length), [4, 1]);
});
