import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { LoadClient } from "../../support/load_client.ts";
import { runTask } from "../../support/run_task.ts";
import { LAUNCHED, ServiceProcess } from "../../support/service_process.ts";
import { childrenOf } from "../../support/store_server.ts";
import { TempStore } from "../../support/temp_store.ts";
import { test as testProcesses } from "../../support/test_processes.ts";
import { until } from "../../support/until.ts";

/** Declares a test of a service of three processes, which all start at once on a new store. */
const test = (name: string, use: (service: ServiceProcess, temp: TempStore) => Promise<void>) =>
  testProcesses(`PROCESSES: ${name}`, async () => {
    await using temp = await TempStore.make();
    await using service = await ServiceProcess.start(temp.kvPath, { PROCESSES: "3" }, LAUNCHED);
    await until(() => linesOf(service, "listening").length === 3);
    await use(service, temp);
  });

/** The lines of an event so far. A line that is not JSON is an error. */
function linesOf({ lines }: ServiceProcess, event: string) {
  return lines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
}

test(
  "a killed process starts again after a delay that doubles, and nothing acknowledged is lost",
  async (service, temp) => {
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
    for (const [index, line] of linesOf(service, "process_ended").entries()) {
      const again = listening[3 + index];
      assertEquals([line.code, line.signal, line.process], [137, "SIGKILL", again.process]);
      assertGreater(Date.parse(again.time) - Date.parse(line.time), 100 * 2 ** index);
    }
    await load.expectServed(service);
    await temp.use((operator) => load.expectLogged(operator));
  },
);

/** Signals to the launcher, its exit code, and the signal that the processes log. */
for (
  const [signal, code, ...logged] of [
    ["SIGTERM", 0, "SIGTERM"],
    ["SIGINT", 0, "SIGINT"],
    ["SIGHUP", 129],
    ["SIGKILL", 137, "SIGTERM"],
  ] as const
) {
  test(`${signal} to the launcher ends all processes within five seconds`, async (service) => {
    const begin = performance.now();
    // It resolves when the last process that inherited standard error has ended.
    assertEquals(await service.stop(signal), code);
    assert(performance.now() - begin < 5_000);
    const stops = linesOf(service, "shutting_down").map((line) => line.signal);
    assertEquals(stops, [...logged, ...logged, ...logged]);
  });
}

test(
  "a port in use is refused, and two processes that cannot start end all",
  async (service, temp) => {
    const missing = `${temp.folder}/missing/pets.sqlite3`;
    for (const PROCESSES of ["1", "2"]) {
      const fails = async (kvPath: string, PORT: string, reason: RegExp) => {
        const env = { HOST: "127.0.0.1", PORT, PROCESSES };
        const { code, stderr } = await runTask(["start"], { kvPath, env });
        assertEquals(code, 2);
        assertMatch(stderr, reason);
      };
      const { port } = new URL(service.address);
      await fails(temp.kvPath, port, /^error: [^\n]+ the port is in use; set PORT to another\n$/);
      await fails(missing, "0", /^error: Cannot open the store [^\n]* its folder does not exist; /);
    }
  },
);
