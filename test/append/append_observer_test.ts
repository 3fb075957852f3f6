import { assertEquals, assertRejects } from "@std/assert";
import { type EventBody, type EventMetadata, OPERATOR } from "../../events/event.ts";
import type { AppendObserver } from "../../src/append/append_observer.ts";
import { Appender } from "../../src/append/appender.ts";
import { HeadReader } from "../../src/log/head_reader.ts";
import { project } from "../../src/projections/project.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import type { Store } from "../../src/store/store.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";

/** Notes what it is told, and counts the contexts that it gives out. */
class NotingWatch implements AppendObserver<number> {
  notes: string[] = [];
  #given = 0;

  context(): number {
    return ++this.#given;
  }

  within<T>(context: number | undefined, run: () => T): T {
    this.notes.push(`within ${context}`);
    return run();
  }

  commit<T>(contexts: number[], events: number, run: () => Promise<T>): Promise<T> {
    this.notes.push(`commit of ${events} for ${contexts.join(", ")}`);
    return run();
  }

  landed(events: number): void {
    this.notes.push(`landed ${events}`);
  }

  lost(): void {
    this.notes.push("lost");
  }

  unclear(): void {
    this.notes.push("unclear");
  }
}

function appenderOn(store: Store, runtime: FakeRuntime, watch?: AppendObserver): Appender {
  const heads = new HeadReader(store, runtime);
  return new Appender({
    store,
    heads,
    project,
    runtime,
    observer: watch,
    report: () => {},
    committed: () => {},
  });
}

function addPet(appender: Appender, runtime: FakeRuntime) {
  const origin: EventMetadata = {
    id: runtime.newId(),
    time: "2026-01-01T00:00:00.000Z",
    actor: OPERATOR,
  };
  return appender.append({
    prepare: () => {},
    decide: ({ lastPetId }): (EventBody & EventMetadata)[] => [{
      ...origin,
      type: "PetCreated",
      data: { id: lastPetId + 1, name: "Rex", categoryId: 1n },
    }],
  });
}

Deno.test("Appender tells its watch in whose name it works, and what became of a commit", async () => {
  using kv = await Deno.openKv(":memory:");
  const runtime = new FakeRuntime();
  const watch = new NotingWatch();
  const appender = appenderOn(new KvStore(kv), runtime, watch);
  await Promise.all([addPet(appender, runtime), addPet(appender, runtime)]);
  assertEquals(watch.notes, [
    "within undefined",
    "within 1",
    "within 2",
    "commit of 2 for 1, 2",
    "landed 2",
  ]);
});

Deno.test("Appender tells its watch of a commit that another instance's came before", async () => {
  using kv = await Deno.openKv(":memory:");
  const runtime = new FakeRuntime();
  const watch = new NotingWatch();
  const store = new KvStore(kv);
  const appender = appenderOn(store, runtime, watch);
  await addPet(appender, runtime);
  await addPet(appenderOn(store, runtime), runtime);
  watch.notes.length = 0;
  let isDone = false;
  const adding = addPet(appender, runtime).finally(() => isDone = true);
  while (!isDone) await runtime.advance(10);
  assertEquals((await adding)[0].position, 3);
  assertEquals(watch.notes.filter((note) => !note.startsWith("within")), [
    "commit of 1 for 2",
    "lost",
    "commit of 1 for 2",
    "landed 1",
  ]);
});

Deno.test("Appender tells its watch of a commit without a clear answer, and that it landed", async () => {
  using kv = await Deno.openKv(":memory:");
  const runtime = new FakeRuntime();
  const watch = new NotingWatch();
  const store = new KvStore(kv);
  const doubtful: Store = {
    get: (key) => store.get(key),
    list: (range, options) => store.list(range, options),
    close: () => {},
    commit: async (commit) => {
      await store.commit(commit);
      throw new TypeError("connection reset");
    },
  };
  const appender = appenderOn(doubtful, runtime, watch);
  assertEquals((await addPet(appender, runtime))[0].position, 1);
  assertEquals(watch.notes.slice(-3), ["commit of 1 for 1", "unclear", "landed 1"]);
});

Deno.test("Appender says how many commands wait", async () => {
  using kv = await Deno.openKv(":memory:");
  const runtime = new FakeRuntime();
  const appender = appenderOn(new KvStore(kv), runtime);
  assertEquals(appender.queueLength, 0);
  const adding = [addPet(appender, runtime), addPet(appender, runtime), addPet(appender, runtime)];
  assertEquals(appender.queueLength, 3);
  await Promise.all(adding);
  assertEquals(appender.queueLength, 0);
  await appender.drain();
  await assertRejects(() => addPet(appender, runtime), Error, "shutting down");
});
