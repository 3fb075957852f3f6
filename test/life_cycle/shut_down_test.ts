import { OPERATOR } from "../../src/eventstore_less/log/actor.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { APPEND_LIMIT_MS } from "../../src/eventstore_less/append/appender.ts";
import { shutDown, SHUTDOWN_MS } from "../../src/life_cycle/shut_down.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { COMMIT_FAULTS } from "../support/faulty_store.ts";
import { openTestService } from "../support/test_service.ts";

const neverResolves = new Promise<never>(() => {});

/** A service that records each step of a shutdown. `add` appends a pet, as an accepted request does. */
async function open() {
  const steps: string[] = [];
  const service = await openTestService();
  const record = <T extends object>(it: T, name: keyof T & string) => {
    const run = (it[name] as () => unknown).bind(it);
    Object.assign(it, { [name]: () => (steps.push(name), run()) });
  };
  record(service, "endWaiting");
  record(service.appender, "drain");
  record(service.faults, "close");
  const { appender, runtime } = service;
  const add = () =>
    appender.append(addPetCommand(runtime, OPERATOR, { name: "Rex", categoryId: 1n }));
  return { service, runtime, store: service.faults, steps, add };
}

Deno.test("shutDown() closes the store last, and needs no time if no request is open", async () => {
  const { service, steps } = await open();
  await shutDown(service, { shutdown: () => (steps.push("shutdown"), Promise.resolve()) });
  assertEquals(steps, ["endWaiting", "shutdown", "drain", "close"]);
});

Deno.test("shutDown() gives a command that was accepted before `drain` its full time", async () => {
  const { service, runtime, store, steps, add } = await open();
  store.onCommit = COMMIT_FAULTS.hangs;
  const { promise: answered, resolve: onAnswered } = Promise.withResolvers<void>();
  const over = shutDown(service, { shutdown: () => answered });
  await runtime.advance(SHUTDOWN_MS.drain - 1);
  let code: string | undefined;
  add().catch((error) => {
    ({ code } = error);
    onAnswered();
  });
  await runtime.advance(APPEND_LIMIT_MS - 1);
  assertEquals([code, steps], [undefined, ["endWaiting", "drain"]]);
  await runtime.advance(SHUTDOWN_MS.close - SHUTDOWN_MS.drain - APPEND_LIMIT_MS + 2);
  assertEquals([code, steps], ["outcome_unknown", ["endWaiting", "drain", "close"]]);
  await over;
});

Deno.test("shutDown() lets a command land whose client has gone, before it closes the store", async () => {
  const { service, runtime, store, steps, add } = await open();
  const held = Promise.withResolvers<void>();
  store.onCommit = async (apply) => {
    await held.promise;
    return await apply();
  };
  const added = add();
  const over = shutDown(service, { shutdown: () => Promise.resolve() });
  await runtime.advance(SHUTDOWN_MS.drain);
  assertEquals(steps, ["endWaiting", "drain"]);
  held.resolve();
  assertEquals((await added).events.length, 1);
  await over;
  assertEquals(steps, ["endWaiting", "drain", "close"]);
});

Deno.test("shutDown() refuses commands after `drain`, and is over at `exit` although a request stays open", async () => {
  const { service, runtime, steps, add } = await open();
  let isOver = false;
  const over = shutDown(service, { shutdown: () => neverResolves }).then(() => isOver = true);
  await runtime.advance(SHUTDOWN_MS.drain);
  const { code } = await assertRejects(add, ServiceError);
  assertEquals(code, "shutting_down");
  await runtime.advance(SHUTDOWN_MS.close - SHUTDOWN_MS.drain);
  assertEquals([isOver, steps], [false, ["endWaiting", "drain", "close"]]);
  await runtime.advance(SHUTDOWN_MS.exit - SHUTDOWN_MS.close);
  assertEquals(isOver, true);
  await over;
});
