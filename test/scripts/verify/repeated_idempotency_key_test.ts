import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { systemRuntime } from "../../../src/runtime/system_runtime.ts";
import { expectTask } from "../../support/run_task.ts";
import { rewritten, sampleLog } from "../../support/sample_log.ts";
import { writeLog } from "../../support/sample_store.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES);

const USED_AT = 33;
const POSITION = 36;

/** A log in which one key uses an Idempotency-Key twice within seconds, as the service does if its record was lost. */
function repeatedLog(): string[] {
  const lines = sampleLog(40, systemRuntime.now());
  const { actor, idempotencykey } = JSON.parse(lines[USED_AT - 1]);
  const again = JSON.parse(lines[POSITION - 1]);
  assertEquals([typeof idempotencykey, again.actor], ["string", actor]);
  const line = lines[POSITION - 1].replace(again.idempotencykey, idempotencykey);
  return rewritten(lines, POSITION - 1, line);
}

test("An Idempotency-Key that is used twice within a day is a note of the audit, and costs no line in any command", async () => {
  await using temp = await TempStore.make();
  // A key must not be in the folder of the store.
  await using others = await TempStore.make();
  const { kvPath } = temp;
  const { folder } = others;
  const lines = repeatedLog();
  const text = lines.map((line) => `${line}\n`).join("");
  await temp.use(({ store, runtime }) => writeLog(store, runtime, lines));
  const backup = `${folder}/backup.jsonl`;
  const published = `${folder}/published`;
  const restored = `${folder}/restored.sqlite3`;

  const report = await expectTask(["audit"], { kvPath });
  assertMatch(report, /^Sound: 40 events/);
  const note = `Note: Event ${POSITION} has the Idempotency-Key of event ${USED_AT}, less than a ` +
    "day after it.\nThe record of the first use was lost, or a clock was far behind, so a request";
  assertStringIncludes(report, note);
  const { notes, noteCounts } = JSON.parse(await expectTask(["audit", "--json"], { kvPath }));
  const [{ message: _, ...found }] = notes;
  assertEquals(found, { kind: "idempotency_key_repeated", positions: [USED_AT, POSITION] });
  assertEquals(noteCounts, { idempotency_key_repeated: 1 });

  assertEquals(await expectTask(["log", "--recover"], { kvPath }), text);
  await expectTask(["backup", backup], { kvPath });
  assertEquals(await Deno.readTextFile(backup), text);
  assertStringIncludes(await expectTask(["audit", "--file", backup], { kvPath }), note);
  await expectTask(["replay", "--grace", "0"], { kvPath });
  await expectTask(["publish", "--new-key", `${folder}/key`], { kvPath });
  const signing = ["--key", `${folder}/key`, "--origin", "log.example"];
  await expectTask(["publish", published, ...signing], { kvPath });
  assertMatch(await expectTask(["audit", "--published", published], { kvPath }), /^Sound: 40 /);
  await expectTask(["restore", backup], { kvPath: restored });
  assertStringIncludes(await expectTask(["audit"], { kvPath: restored }), note);
  assertEquals(await expectTask(["log"], { kvPath: restored }), text);
});
