import { assertEquals } from "@std/assert";
import { OPERATOR } from "../../events/event.ts";
import { APPEND_LIMIT_MS, Appender } from "../../src/append/appender.ts";
import { HeadReader } from "../../src/log/head_reader.ts";
import { project } from "../../src/projections/project.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import type { Store } from "../../src/store/store.ts";
import { NO_INSTRUMENTATION } from "../../src/telemetry/instrumentation.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { COMMIT_FAULTS, faultyStore } from "../support/faulty_store.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";
import { RecordingInstrumentation } from "../support/recording_instrumentation.ts";

function appenderOn(
  store: Store,
  runtime: FakeRuntime,
  instrumentation = NO_INSTRUMENTATION,
): Appender {
  const heads = new HeadReader(store, runtime);
  const deps = { store, heads, project, runtime, instrumentation, report: () => {} };
  return new Appender({ ...deps, appendLimitMs: APPEND_LIMIT_MS });
}

function addPet(appender: Appender, runtime: FakeRuntime) {
  return appender.append(addPetCommand(runtime, OPERATOR, { name: "Rex", categoryId: 1n }));
}

Deno.test("Appender prepares and commits in the contexts of its callers, and reports the commit", async () => {
  using kv = await Deno.openKv(":memory:");
  const runtime = new FakeRuntime();
  const instrumentation = new RecordingInstrumentation();
  const appender = appenderOn(new KvStore(kv), runtime, instrumentation);
  await Promise.all([addPet(appender, runtime), addPet(appender, runtime)]);
  assertEquals(instrumentation.reports, [
    "append",
    "restore undefined",
    "append",
    "restore 1",
    "restore 2",
    "commit of 2 for 1, 2",
    "committed 2",
  ]);
});

Deno.test("Appender reports a conflict with a commit of another instance", async () => {
  using kv = await Deno.openKv(":memory:");
  const runtime = new FakeRuntime();
  const instrumentation = new RecordingInstrumentation();
  const store = new KvStore(kv);
  const appender = appenderOn(store, runtime, instrumentation);
  await addPet(appender, runtime);
  await addPet(appenderOn(store, runtime), runtime);
  instrumentation.take();
  const [added] = await runtime.settle(addPet(appender, runtime));
  assertEquals(added.position, 3);
  assertEquals(instrumentation.reports.filter((report) => !report.startsWith("restore")), [
    "append",
    "commit of 1 for 2",
    "commit.conflicts",
    "commit of 1 for 2",
    "committed 1",
  ]);
});

Deno.test("Appender reports a commit without a clear outcome, and that it landed", async () => {
  using kv = await Deno.openKv(":memory:");
  const runtime = new FakeRuntime();
  const instrumentation = new RecordingInstrumentation();
  const store = faultyStore(new KvStore(kv), { onCommit: COMMIT_FAULTS.landsAndFails });
  const appender = appenderOn(store, runtime, instrumentation);
  assertEquals((await addPet(appender, runtime))[0].position, 1);
  assertEquals(instrumentation.reports.slice(-3), [
    "commit of 1 for 1",
    "commit.unclear",
    "committed 1",
  ]);
});
