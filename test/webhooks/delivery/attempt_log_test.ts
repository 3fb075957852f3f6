import { assertEquals } from "@std/assert";
import { FakeRuntime, openMemoryStore } from "eventstore-less/testing";
import { StoreAwayError } from "../../../src/eventstore_less/store/store_errors.ts";
import { AttemptLog, type NotedAttempt } from "../../../src/webhooks/delivery/attempt_log.ts";
import { faultyStore } from "../../support/faulty_store.ts";

const ID = "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B";

async function open() {
  const runtime = new FakeRuntime();
  const store = faultyStore(await openMemoryStore());
  const log = new AttemptLog({ runtime, store });
  const other = new AttemptLog({ runtime, store });
  const attempt = (eventId: string, outcome: Partial<NotedAttempt> = { status: 200 }) => {
    return { eventId, time: new Date(runtime.now()).toISOString(), durationMs: 5, ...outcome };
  };
  const eventsIn = async (it: AttemptLog) => (await it.read(ID)).map(({ eventId }) => eventId);
  return { runtime, store, log, other, attempt, eventsIn };
}

Deno.test("AttemptLog keeps the last ten attempts, the latest one first, and knows its own at once", async () => {
  const { runtime, log, attempt, eventsIn } = await open();
  for (let number = 1; number <= 12; number++) {
    log.note(ID, attempt(`e${number}`));
    await runtime.advance(1_500);
  }
  const expected = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((number) => `e${number}`);
  assertEquals(await eventsIn(log), expected);
  assertEquals(await log.read("another"), []);
});

Deno.test("AttemptLog stores a failure within a second, and successes within ten together", async () => {
  const { runtime, store, log, other, attempt, eventsIn } = await open();
  log.note(ID, attempt("e1"));
  await runtime.advance(5_000);
  log.note(ID, attempt("e2"));
  await runtime.advance(4_900);
  assertEquals([await eventsIn(other), store.commits.length], [[], 0]);
  await runtime.advance(100);
  assertEquals([await eventsIn(other), store.commits.length], [["e2", "e1"], 1]);
  log.note(ID, attempt("e3", { status: 500, answer: "No" }));
  await runtime.advance(1_000);
  assertEquals([(await other.read(ID))[0].answer, store.commits.length], ["No", 2]);
});

Deno.test("AttemptLog stores the attempts of one webhook at once if it must", async () => {
  const { runtime, store, log, other, attempt, eventsIn } = await open();
  log.note(ID, attempt("e1"));
  log.note("another", attempt("e2"));
  await runtime.settle(log.storeNow(ID));
  assertEquals([await eventsIn(other), store.commits.length], [["e1"], 1]);
  assertEquals(await other.read("another"), []);
});

Deno.test("AttemptLog keeps the attempts of several instances, and flush() stores what waits", async () => {
  const { runtime, log, other, attempt, eventsIn } = await open();
  log.note(ID, attempt("e1"));
  await runtime.advance(10);
  other.note(ID, attempt("e2"));
  await runtime.settle(Promise.all([log.flush(), other.flush()]));
  assertEquals(await eventsIn(log), ["e2", "e1"]);
  assertEquals(runtime.waits(), []);
});

Deno.test("AttemptLog has room for ten answers that JSON makes long, and none after remove()", async () => {
  const { runtime, log, other, attempt, eventsIn } = await open();
  for (let number = 0; number < 10; number++) {
    log.note(ID, attempt(`e${number}`, { status: 500, answer: "\u0001".repeat(1_024) }));
    await runtime.advance(1_000);
  }
  assertEquals((await eventsIn(other)).length, 10);
  await runtime.settle(log.remove(ID));
  assertEquals(await eventsIn(other), []);
});

Deno.test("AttemptLog loses attempts while the store is away, and nothing else fails", async () => {
  const { runtime, store, log, attempt, eventsIn } = await open();
  store.onCommit = () => Promise.reject(new StoreAwayError("away"));
  log.note(ID, attempt("e1", { status: 500 }));
  await runtime.advance(10_000);
  store.onCommit = (apply) => apply();
  log.note(ID, attempt("e2", { status: 500 }));
  await runtime.advance(1_000);
  assertEquals(await eventsIn(log), ["e2"]);
});
