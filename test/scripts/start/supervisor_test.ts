import { assertEquals, assertGreater } from "@std/assert";
import { LoadClient } from "../../support/load_client.ts";
import { expectTaskFails } from "../../support/run_task.ts";
import { inShell, IS_ON_NODE, taskOf } from "../../support/programs.ts";
import { AS_TASK, ServiceProcess, SUPERVISED } from "../../support/service_process.ts";
import { childrenOf } from "../../support/store_server.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";

const test = testNeeding(PROCESSES);

/** The lines of an event so far. A line that is not JSON is an error. */
function linesOf({ lines }: ServiceProcess, event: string) {
  return lines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
}

test("a killed process starts again after a delay that doubles, and nothing acknowledged is lost", async () => {
  await using temp = await TempStore.make();
  // All of them start at once on a new store.
  await using service = await ServiceProcess.start(temp.kvPath, { PROCESSES: "3" }, SUPERVISED);
  await until(() => linesOf(service, "listening").length === 3);
  const token = await temp.issueApiKey();
  const options = { token, connections: 16, faults: "process", changes: true } as const;
  const load = new LoadClient({ ...options, services: () => [service] });
  let kills = 0;
  const running = load.run(() => kills === 2);
  for (; kills < 2; kills++) {
    // The newest process is the one that was killed before.
    Deno.kill(childrenOf(service.pid).at(-1)!, "SIGKILL");
    const acknowledged = load.acknowledged.size;
    await until(() => linesOf(service, "listening").length === 4 + kills);
    assertGreater(load.acknowledged.size, acknowledged, "The other processes do not serve");
  }
  await running;
  const restarts = linesOf(service, "listening").slice(3);
  for (const [index, { time, process, signal }] of linesOf(service, "process_ended").entries()) {
    assertEquals([process, signal], [restarts[index].process, "SIGKILL"]);
    assertGreater(Date.parse(restarts[index].time) - Date.parse(time), 100 * 2 ** index);
  }
  await temp.use((operator) => load.expectLogged(operator));
  // It resolves when the last process that inherited standard error has ended.
  assertEquals(await service.stop("SIGKILL"), 137);
  assertEquals(linesOf(service, "stopped").map((line) => line.process).sort(), [1, 2, 3]);
});

test("all processes serve the file to which a link led at the start, also one that starts after the link has moved", async () => {
  await using temp = await TempStore.make();
  await using other = await TempStore.make();
  await using links = await TempStore.make();
  const token = await temp.issueApiKey();
  await other.issueApiKey();
  await Deno.symlink(temp.kvPath, links.kvPath);
  await using service = await ServiceProcess.start(links.kvPath, { PROCESSES: "2" }, SUPERVISED);
  await until(() => linesOf(service, "listening").length === 2);
  await Deno.remove(links.kvPath);
  await Deno.symlink(other.kvPath, links.kvPath);
  Deno.kill(childrenOf(service.pid).at(-1)!, "SIGKILL");
  await until(() => linesOf(service, "listening").length === 3);
  const stores = linesOf(service, "listening").map(({ store }) => store);
  assertEquals(stores, Array(3).fill(temp.kvPath));
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
});

/** The steps of the restart of a process, by the lines of the log. */
const STEPS = ["process_restarting", "stopped", "listening"];

test("SIGHUP restarts the processes one by one under load, while the others serve", async () => {
  await using temp = await TempStore.make();
  await using service = await ServiceProcess.start(temp.kvPath, { PROCESSES: "2" }, SUPERVISED);
  await until(() => linesOf(service, "listening").length === 2);
  const before = childrenOf(service.pid);
  const token = await temp.issueApiKey();
  const options = { token, connections: 16, faults: "process", changes: true } as const;
  const load = new LoadClient({ ...options, services: () => [service] });
  let isOver = false;
  const running = load.run(() => isOver);
  const acknowledged = load.acknowledged.size;
  Deno.kill(service.pid, "SIGHUP");
  await until(() => linesOf(service, "restarted").length === 1);
  assertGreater(load.acknowledged.size, acknowledged);
  isOver = true;
  await running;
  // The kernel resets the connections that a process has not accepted: few, also on a busy machine.
  assertGreater(2 + load.acknowledged.size / 100, load.unclear.size);
  const lines = service.lines.map((line) => JSON.parse(line));
  const first = lines.findIndex(({ event }) => event === STEPS[0]);
  const order = lines.slice(first)
    .filter(({ event }) => STEPS.includes(event))
    .map(({ event, process }) => `${event} ${process}`);
  const round = [1, 2].flatMap((number) => STEPS.map((step) => `${step} ${number}`));
  assertEquals(order, round);
  assertEquals(childrenOf(service.pid).filter((pid) => before.includes(pid)), []);
  assertEquals(linesOf(service, "process_ended"), []);
  await temp.use((operator) => load.expectLogged(operator));
  assertEquals(await service.stop(), 0);
});

test("SIGHUP ends a single process, which finishes its requests", async () => {
  await using temp = await TempStore.make();
  await temp.issueApiKey();
  await using single = await ServiceProcess.start(temp.kvPath, {}, AS_TASK);
  assertEquals(await single.stop("SIGHUP"), 0);
  assertEquals(linesOf(single, "shutting_down").map(({ signal }) => signal), ["SIGHUP"]);
  assertEquals(linesOf(single, "stopped").length, 1);
});

test("SIGHUP does not end the second process if the first cannot start again", async () => {
  await using temp = await TempStore.make();
  await temp.issueApiKey();
  const env = { PROCESSES: "2", NEW_STORE: "" };
  await using pair = await ServiceProcess.start(temp.kvPath, env, SUPERVISED);
  await until(() => linesOf(pair, "listening").length === 2);
  const [, second] = childrenOf(pair.pid);
  await Deno.rename(temp.kvPath, `${temp.kvPath}.moved`);
  Deno.kill(pair.pid, "SIGHUP");
  await until(() => pair.lines.some((line) => line.includes('"restart_failed"')));
  assertEquals(childrenOf(pair.pid).includes(second), true);
  assertEquals((await fetch(`${pair.address}/healthz`)).status, 200);
  await pair.stop();
});

test("without NEW_STORE=make, the supervisor of a missing store ends with one line, and makes none", async () => {
  await using temp = await TempStore.make();
  const env = { PROCESSES: "2", PORT: "0", HOST: "127.0.0.1", NEW_STORE: "" };
  const line = /^error: Cannot open the store [^\n]*: there is no such file; [^\n]*\n$/;
  await expectTaskFails(2, line, ["start"], { kvPath: temp.kvPath, env });
  assertEquals(await Array.fromAsync(Deno.readDir(temp.folder)), []);
});

test("a stopped process is killed after a limit, and does not keep the supervisor alive", async () => {
  await using temp = await TempStore.make();
  await temp.issueApiKey();
  await using service = await ServiceProcess.start(temp.kvPath, { PROCESSES: "2" }, SUPERVISED);
  await until(() => linesOf(service, "listening").length === 2);
  Deno.kill(childrenOf(service.pid)[0], "SIGSTOP");
  assertEquals(await service.stop(), 137);
  assertEquals(linesOf(service, "stopped").length, 1);
});

test("a SIGKILL of deno task ends its service, with all processes", async () => {
  await using temp = await TempStore.make();
  await temp.issueApiKey();
  for (const PROCESSES of ["1", "2"]) {
    const shell = inShell(taskOf("start"));
    await using service = await ServiceProcess.start(temp.kvPath, { PROCESSES }, shell);
    await until(() => linesOf(service, "listening").length === Number(PROCESSES));
    // It resolves when the last process that inherited standard error has ended.
    assertEquals(await service.stop("SIGKILL"), 137);
    // On Node, the task is the supervisor, or the single process.
    const killed = IS_ON_NODE && PROCESSES === "1" ? 1 : 0;
    assertEquals(linesOf(service, "stopped").length, Number(PROCESSES) - killed);
  }
});
