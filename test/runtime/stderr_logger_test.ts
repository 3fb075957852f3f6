/** Real processes whose standard error is a pipe that nobody reads. */

import { assert, assertEquals } from "@std/assert";
import { splitLines } from "../../src/eventstore_less/log/lines.ts";
import { storeVariables } from "../support/real_store.ts";
import { ON_DENO } from "../support/programs.ts";
import { RUN, SUPERVISED } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { ROOT } from "../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

/** More lines than the pipe and the buffer take. */
const REQUESTS = 6_000;

/** Time in which a process must end, in milliseconds. It promises five seconds, but the machine may be busy. */
const STOP_LIMIT_MS = 20_000;

/** Starts a service that logs each response. Its standard error is read only to its first line, and then on request. */
async function startUnread(temp: TempStore, [command, ...args]: string[], PROCESSES = "1") {
  const process = new Deno.Command(command, {
    args: [...args, "src/main.ts"],
    cwd: ROOT,
    env: {
      ...storeVariables(temp.kvPath),
      ...{ HOST: "127.0.0.1", PORT: "0", ACCESS_LOG: "true", NO_COLOR: "1", PROCESSES },
    },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const decoder = new TextDecoder();
  const lines = (async function* () {
    for await (const some of splitLines(process.stderr)) {
      for (const line of some) yield JSON.parse(decoder.decode(line));
    }
  })();
  const { value: { port } } = await lines.next();
  const stop = async () => {
    process.kill("SIGTERM");
    const timer = setTimeout(() => process.kill("SIGKILL"), STOP_LIMIT_MS);
    const { code } = await process.status;
    clearTimeout(timer);
    assertEquals(code, 0);
  };
  const kill = async () => {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has already exited.
    }
    await process.status;
    // Otherwise a process that hangs in a write would go on.
    await lines.return();
  };
  return { address: `http://127.0.0.1:${port}`, lines, stop, [Symbol.asyncDispose]: kill };
}

async function statusOf(response: Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

/** Sends requests, and asserts that each is answered within a minute. */
async function sendRequests(address: string, token: string, count: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (let sent = 0; sent < count; sent += 50) {
    const some = Array.from({ length: 50 }, () => {
      const signal = AbortSignal.timeout(60_000);
      return statusOf(fetch(`${address}/v1/pets?limit=1`, { headers, signal }));
    });
    assertEquals(await Promise.all(some), Array(50).fill(200));
  }
}

for (
  const [name, command, processes] of [["process", RUN, "1"], [
    "supervisor",
    SUPERVISED,
    "2",
  ]] as const
) {
  test(`A ${name} whose standard error nobody reads answers all requests, and ends`, async () => {
    await using temp = await TempStore.make();
    const token = await temp.issueApiKey();
    await using service = await startUnread(temp, [...command], processes);
    await sendRequests(service.address, token, REQUESTS);
    assertEquals(await statusOf(fetch(`${service.address}/healthz`)), 200);
    await service.stop();
  });
}

test("A reader of standard error that comes back gets whole lines, and the number of those that were dropped", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await startUnread(temp, RUN);
  const { address, lines, stop } = service;
  await sendRequests(address, token, REQUESTS);
  let requests = 0;
  let lost;
  while (lost === undefined) {
    const { value: line } = await lines.next();
    if (line.event === "request") requests++;
    if (line.event === "lines_dropped") lost = line;
  }
  assert(lost.dropped > 0);
  assertEquals([lost.level, requests + lost.dropped, lost.requests], [
    "warn",
    REQUESTS,
    lost.dropped,
  ]);
  const reading = Array.fromAsync(lines);
  await stop();
  assertEquals((await reading).map(({ event }) => event), ["shutting_down", "stopped"]);
});

testNeeding(PROCESSES, ON_DENO)(
  "A crash ends a process with 2 although nobody reads its standard error",
  async () => {
    const program = `
    import { installCrashHandlers } from "${ROOT}/src/life_cycle/exit.ts";
    import { stderrLogger } from "${ROOT}/src/runtime/stderr_logger.ts";
    installCrashHandlers(stderrLogger);
    for (let line = 0; line < 2_000; line++) stderrLogger("info", "request", { line });
    setTimeout(() => { throw new Error("out of order"); }, 100);
    setTimeout(() => {}, 60_000);`;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--ext=ts", program],
      stdout: "null",
      stderr: "piped",
      signal: AbortSignal.timeout(60_000),
    }).spawn();
    const { code } = await process.status;
    await process.stderr.cancel();
    assertEquals(code, 2);
  },
);
