import { spawn, type StdioOptions } from "node:child_process";
import { assertEquals } from "@std/assert";
import { type ChildProcess, KeptProcess } from "../../../scripts/start/kept_process.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";

const test = testNeeding(PROCESSES);

/** A program that is ready at once, and ends with 0 at a signal. */
const READY = "trap 'kill $! 2>/dev/null; exit 0' HUP TERM; echo ready; sleep 60 & wait";

/** A process whose runs are these programs, one after the other. */
function keep(...programs: string[]): { kept: KeptProcess; runs: ChildProcess[] } {
  const runs: ChildProcess[] = [];
  const stdio: StdioOptions = ["ignore", "pipe", "inherit"];
  const kept = new KeptProcess(1, () => {
    const run = spawn("sh", ["-c", programs[runs.length]], { stdio }) as ChildProcess;
    runs.push(run);
    return run;
  });
  return { kept, runs };
}

test("run() resolves to the exit code of a process that ends by itself before it was ever ready", async () => {
  for (const code of [0, 1, 2]) {
    const { kept, runs } = keep(`exit ${code}`);
    assertEquals([await kept.run(), runs.length], [code, 1]);
  }
});

test("A process that is killed before it is ready starts again, and so does one that ends later", async () => {
  const { kept, runs } = keep("kill -9 $$", "echo ready; exit 2", READY);
  const ended = kept.run();
  await kept.firstReady;
  await until(() => runs.length === 3);
  kept.stop("SIGKILL");
  assertEquals(await ended, 128 + 9);
});

test("restart() resolves to false if the successor ends first, which then starts again", async () => {
  const { kept, runs } = keep(READY, "exit 2", READY);
  const ended = kept.run();
  await kept.firstReady;
  assertEquals(await kept.restart(), false);
  await until(() => runs.length === 3);
  kept.stop("SIGKILL");
  assertEquals(await ended, 128 + 9);
});

test("run() resolves to 0 without a start if the process was stopped before", async () => {
  const { kept, runs } = keep();
  kept.stop("SIGTERM");
  assertEquals([await kept.run(), runs.length], [0, 0]);
});
