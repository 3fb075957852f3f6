import { assertEquals } from "@std/assert";
import { OPERATOR } from "../../events/event.ts";
import { APPEND_LIMIT_MS, Appender } from "../../src/append/appender.ts";
import { HeadReader } from "../../src/log/head_reader.ts";
import { project } from "../../src/projections/project.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import { NO_INSTRUMENTATION } from "../../src/telemetry/instrumentation.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { COMMIT_FAULTS, type CommitFault, faultyStore } from "../support/faulty_store.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";
import { RecordingInstrumentation } from "../support/recording_instrumentation.ts";

/** An appender that is recorded, and another one on its store. Each adds one pet. */
async function open(onCommit: CommitFault = COMMIT_FAULTS.lands) {
  const kv = await Deno.openKv(":memory:");
  const runtime = new FakeRuntime();
  const store = faultyStore(new KvStore(kv), { onCommit });
  const instrumentation = new RecordingInstrumentation();
  const [add, addElsewhere] = [instrumentation, NO_INSTRUMENTATION].map((instrumentation) => {
    const heads = new HeadReader(store, runtime);
    const deps = { store, heads, project, runtime, instrumentation, report: () => {} };
    const appender = new Appender({ ...deps, appendLimitMs: APPEND_LIMIT_MS });
    const pet = { name: "Rex", categoryId: 1n };
    return () => runtime.settle(appender.append(addPetCommand(runtime, OPERATOR, pet)));
  });
  const take = () => instrumentation.take();
  return { add, addElsewhere, take, [Symbol.dispose]: () => kv.close() };
}

Deno.test("Appender prepares and commits in the contexts of its callers, and reports the commit", async () => {
  using opened = await open();
  await Promise.all([opened.add(), opened.add()]);
  assertEquals(opened.take(), [
    "append",
    "restore undefined",
    "append",
    "restore 1",
    "restore 2",
    "commit of 2 for 1, 2",
    "committed PetCreated, PetCreated",
  ]);
});

Deno.test("Appender reports a conflict with a commit of another instance", async () => {
  using opened = await open();
  await opened.add();
  await opened.addElsewhere();
  opened.take();
  const [added] = await opened.add();
  assertEquals(added.position, 3);
  assertEquals(opened.take().filter((report) => !report.startsWith("restore")), [
    "append",
    "commit of 1 for 2",
    "commit.conflicts",
    "commit of 1 for 2",
    "committed PetCreated",
  ]);
});

Deno.test("Appender reports a commit without a clear outcome, and that it landed", async () => {
  using opened = await open(COMMIT_FAULTS.landsAndFails);
  assertEquals((await opened.add())[0].position, 1);
  const reports = ["commit of 1 for 1", "commit.unclear", "committed PetCreated"];
  assertEquals(opened.take().slice(-3), reports);
});
