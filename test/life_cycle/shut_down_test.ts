import { assertEquals, assertRejects } from "@std/assert";
import { APPEND_LIMIT_MS } from "../../src/append/appender.ts";
import type { Command } from "../../src/append/command.ts";
import type { Service } from "../../src/service.ts";
import { ServiceError } from "../../src/service_error.ts";
import { shutDown, SHUTDOWN_MS } from "../../src/life_cycle/shut_down.ts";
import type { Store } from "../../src/store/store.ts";
import { openTestService } from "../support/test_service.ts";

/** A command that adds a pet. */
function addition({ runtime }: Service): Command {
  const event = {
    id: runtime.newId(),
    time: new Date(runtime.now()).toISOString(),
    actor: "test",
    type: "PetCreated" as const,
  };
  return {
    prepare() {},
    decide: (
      { lastPetId },
    ) => [{ ...event, data: { id: lastPetId + 1, name: "Rex", categoryId: 1n } }],
  };
}

const neverResolves = new Promise<never>(() => {});

/** A service whose store never answers a commit once `hangs` is set, and records each step of a shutdown. */
async function open() {
  const steps: string[] = [];
  const fault = { hangs: false };
  const test = await openTestService((store): Store => ({
    limits: store.limits,
    get: (key) => store.get(key),
    list: (range, options) => store.list(range, options),
    commit: (commit) => fault.hangs ? neverResolves : store.commit(commit),
    close: () => {
      steps.push("close");
      store.close();
    },
  }));
  const service: Service = {
    ...test,
    cancelBodies: () => {
      steps.push("cancelBodies");
      test.cancelBodies();
    },
  };
  return { test, service, steps, fault };
}

Deno.test("shutDown() closes the store last, and needs no time if no request is open", async () => {
  const { service, steps } = await open();
  const drain = service.appender.drain.bind(service.appender);
  service.appender.drain = () => (steps.push("drain"), drain());
  await shutDown(service, {
    shutdown: () => (steps.push("shutdown"), Promise.resolve()),
  });
  assertEquals(steps, ["cancelBodies", "shutdown", "drain", "close"]);
});

Deno.test("shutDown() gives a command that was accepted before `drain` its full time", async () => {
  const { test, service, steps, fault } = await open();
  fault.hangs = true;
  const { promise: answered, resolve: onAnswered } = Promise.withResolvers<void>();
  const over = shutDown(service, { shutdown: () => answered });
  await test.runtime.advance(SHUTDOWN_MS.drain - 1);
  let code: string | undefined;
  service.appender.append(addition(service)).catch((error) => {
    ({ code } = error);
    onAnswered();
  });
  await test.runtime.advance(APPEND_LIMIT_MS - 1);
  assertEquals([code, steps], [undefined, ["cancelBodies"]]);
  await test.runtime.advance(SHUTDOWN_MS.close - SHUTDOWN_MS.drain - APPEND_LIMIT_MS + 2);
  assertEquals([code, steps], ["outcome_unknown", ["cancelBodies", "close"]]);
  await over;
});

Deno.test("shutDown() makes the appender refuse commands after `drain`", async () => {
  const { test, service } = await open();
  const over = shutDown(service, { shutdown: () => neverResolves });
  await test.runtime.advance(SHUTDOWN_MS.drain);
  const error = await assertRejects(() => service.appender.append(addition(service)), ServiceError);
  assertEquals(error.code, "shutting_down");
  await test.runtime.advance(SHUTDOWN_MS.exit - SHUTDOWN_MS.drain);
  await over;
});

Deno.test("shutDown() is over at `exit` although a request stays open", async () => {
  const { test, service, steps } = await open();
  let isOver = false;
  const over = shutDown(service, { shutdown: () => neverResolves }).then(() => isOver = true);
  await test.runtime.advance(SHUTDOWN_MS.close);
  assertEquals([isOver, steps], [false, ["cancelBodies", "close"]]);
  await test.runtime.advance(SHUTDOWN_MS.exit - SHUTDOWN_MS.close);
  assertEquals(isOver, true);
  await over;
});
