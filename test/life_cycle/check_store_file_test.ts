import { assertEquals, assertMatch } from "@std/assert";
import { runTask } from "../support/run_task.ts";
import { AS_TASK, ServiceProcess } from "../support/service_process.ts";
import { swapCells } from "../support/swap_cells.ts";
import { TempStore } from "../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";
import { sampleLog } from "../support/sample_log.ts";
import { writeLog } from "../support/sample_store.ts";

const test = testNeeding(PROCESSES);

test("a service on a file whose keys are in a wrong order is not ready and says why once, and an audit finds it", async () => {
  await using temp = await TempStore.make();
  const { kvPath } = temp;
  await temp.use(({ store, runtime }) => writeLog(store, runtime, sampleLog(60, Date.now())));
  swapCells(kvPath);
  await using service = await ServiceProcess.start(kvPath, {}, AS_TASK);
  const isDamaged = (line: string) => JSON.parse(line).event === "store_damaged";
  await until(() => service.lines.some(isDamaged));
  const response = await fetch(`${service.address}/readyz`);
  assertEquals(response.status, 503);
  assertEquals((await response.json()).message, "The store's file is damaged");
  const [line, ...others] = service.lines.filter(isDamaged);
  const { reason, remedy } = JSON.parse(line);
  assertEquals(others, []);
  assertMatch(reason, /^row /);
  assertEquals(remedy, "Stop the service, run deno task audit, and follow its advice");
  await service.stop();

  const { code, stdout } = await runTask(["audit"], { kvPath });
  assertEquals(code, 1);
  assertMatch(stdout, /- The file of the store is damaged: row .*[^]*Next: Stop the service/);
});
