import { APPLICATION } from "../../../src/application.ts";
import { assertEquals, assertGreater, assertLess, assertMatch } from "@std/assert";
import { logKey } from "../../../src/eventstore_less/keyspace.ts";
import { readHead } from "../../../src/eventstore_less/log/head.ts";
import { fillStore } from "../../support/fill_store.ts";
import { runReplayLoad } from "../../support/replay_load.ts";
import { expectTask, expectTaskFails, runTask } from "../../support/run_task.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";
import { linesToBytes } from "../../support/sample_log.ts";
import { setRecord } from "../../support/set_record.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { expectDone } from "../../support/third_party_tools.ts";
import { ROOT } from "../../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

test("replay: a log that is not sound exits 1, and the service keeps the old projections", () =>
  withSampleFile(async ({ kvPath, lines, store }) => {
    // The record of lines 34 and 35.
    const altered = linesToBytes([lines[33].replace(/"time":"20/, '"time":"19'), lines[34]]);
    await changeFile(kvPath, [setRecord(logKey(35), altered)]);
    const unsound = /error: Line 35: its previoushash is not .* altered; run deno task audit\n$/;
    await expectTaskFails(1, unsound, ["replay", "--grace", "0"], { kvPath });
    await changeFile(kvPath, [{ type: "delete", key: logKey(14) }]);
    const missing = /error: Position 8 of the log is missing/;
    await expectTaskFails(1, missing, ["replay", "--grace", "0"], { kvPath });
    assertEquals((await readHead(APPLICATION, store)).head.generation, 1);
  }));

test("replay: the command of the manual gives the space back to the disk", async () => {
  const manual = await Deno.readTextFile(`${ROOT}scripts/README.md`);
  const [, block] = /^```sh\n(deno eval [^]*?)^```$/m.exec(manual)!;
  await using temp = await TempStore.make();
  const { kvPath } = temp;
  await fillStore(kvPath, 2_000);
  const size = async () => (await Deno.stat(kvPath)).size;
  const before = await size();
  const replayed = await runTask(["replay", "--grace", "0"], { kvPath });
  assertEquals([replayed.code, replayed.stdout], [0, ""], replayed.stderr);
  assertMatch(replayed.stderr, /Replayed 2,?001 events in [\d.]+ s; generation 2 is served\./);
  assertGreater(await size(), 1.2 * before);
  const command = block.replace("deno eval", `${Deno.execPath()} eval`);
  await expectDone("bash", ["-euc", command], { cwd: ROOT, env: { KV_PATH: kvPath } });
  assertLess(await size(), 1.1 * before);
  await expectTask(["audit"], { kvPath });
});

test("replay: clients of two services see no failure, no short list and no stale response", async () => {
  await using temp = await TempStore.make();
  const { created, changed, listed, read } = await runReplayLoad(temp.kvPath);
  for (const count of [created, changed, listed, read]) assertGreater(count, 0);
});
