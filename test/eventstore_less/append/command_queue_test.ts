import { assertEquals, assertThrows } from "@std/assert";
import { CommandQueue, QUEUE_LIMIT } from "../../../src/eventstore_less/append/command_queue.ts";
import type { Command } from "../../../src/eventstore_less/append/command.ts";
import { QueuedCommand } from "../../../src/eventstore_less/append/queued_command.ts";
import { ServiceError, serviceErrorCode } from "../../../src/eventstore_less/service_error.ts";
import { EMPTY_HEAD } from "../../../src/eventstore_less/log/head.ts";

const OVERLOADED = "Too many requests wait for a commit";

function queuedOf(command: Partial<Command>): QueuedCommand {
  return new QueuedCommand({ prepare: () => {}, decide: () => [], ...command }, 0);
}

/** A queue with commands that have these owners, for example `a a b`, and a look at the owners that take() returns. */
function queueOf(owners: string, command: Partial<Command> = {}) {
  const queue = new CommandQueue();
  for (const owner of owners.split(" ")) queue.add(queuedOf({ ...command, owner }));
  const take = (count: number) => queue.take(count).map((it) => it.command.owner).join(" ");
  return { queue, take };
}

Deno.test("take() takes a command of each owner in turn, and begins with the owner that was served least recently", () => {
  const { queue, take } = queueOf("a a a a b b c");
  assertEquals([take(2), take(3), take(9)], ["a b", "c a b", "a a"]);
  assertEquals([queue.length, queue.canTake], [0, false]);
});

Deno.test("take() returns the commands of an owner one after the other", () => {
  const { take } = queueOf("a a b a b c a");
  assertEquals([take(6), take(9)], ["a a a b b c", "a"]);
});

Deno.test("take() takes of a group only the first command, and of each owner in turn", () => {
  const { queue, take } = queueOf("a a a b b", { group: "one a commit" });
  queue.add(queuedOf({ owner: "a" }));
  assertEquals([take(9), take(9), take(9), take(9)], ["a a", "b", "a", "b"]);
});

Deno.test("take() leaves a command that is being prepared, and those of its group", async () => {
  const queue = new CommandQueue();
  const { promise, resolve } = Promise.withResolvers<void>();
  const [slow, next, other] = [{ group: "names", prepare: () => promise }, { group: "names" }, {}]
    .map((command) => queuedOf(command));
  for (const queued of [slow, next, other]) queue.add(queued);
  slow.prepareOn({ head: EMPTY_HEAD, versionstamp: null });
  assertEquals(queue.take(9), [other]);
  assertEquals(queue.canTake, false);
  resolve();
  await slow.preparation!.ended;
  assertEquals(queue.canTake, true);
  assertEquals([queue.take(9), queue.take(9)], [[slow], [next]]);
});

Deno.test("take() passes no command of a sequence that is being prepared, or that its group keeps", async () => {
  const queue = new CommandQueue();
  const { promise, resolve } = Promise.withResolvers<void>();
  const sequence = Symbol();
  const [first, slow, second, other, third] = [
    { group: "names" },
    { sequence, group: "names", prepare: () => promise },
    { sequence },
    {},
    { sequence },
  ].map((command) => queuedOf(command));
  for (const queued of [first, slow, second, other]) queue.add(queued);
  assertEquals(queue.take(9), [first, other]);
  queue.add(third);
  slow.prepareOn({ head: EMPTY_HEAD, versionstamp: null });
  assertEquals([queue.take(9), queue.canTake], [[], false]);
  resolve();
  await slow.preparation!.ended;
  assertEquals(queue.canTake, true);
  assertEquals(queue.take(2), [slow, second]);
  queue.putBack([second]);
  assertEquals(queue.take(9), [second, third]);
});

Deno.test("putBack() puts commands in front of those that came after them", () => {
  const { queue } = queueOf("a b a");
  const [first, second] = queue.take(2);
  const later = queuedOf({ owner: "b" });
  queue.add(later);
  queue.putBack([first, second]);
  assertEquals(queue.length, 4);
  assertEquals(queue.commands.filter((it) => it.command.owner === "b"), [second, later]);
  assertEquals(queue.commands.find((it) => it.command.owner === "a"), first);
});

Deno.test("putBack() makes the owners of commands the first of the next plan, but not of those that are being prepared", () => {
  const { queue } = queueOf("a b c");
  const [first, second, third] = queue.take(3);
  for (const owner of ["d", "c", "a"]) queue.add(queuedOf({ owner }));
  first.prepareOn({ head: EMPTY_HEAD, versionstamp: null });
  queue.putBack([first, second, third]);
  assertEquals(queue.take(9).map((it) => it.command.owner).join(" "), "b c c d a");
});

Deno.test("add() to a full queue refuses the newest command of the owner that has the most", async () => {
  const queue = new CommandQueue();
  const ofOne = Array.from({ length: QUEUE_LIMIT }, () => queuedOf({ owner: "one" }));
  for (const queued of ofOne) queue.add(queued);
  assertThrows(() => queue.add(queuedOf({ owner: "one" })), ServiceError, OVERLOADED);
  const share = QUEUE_LIMIT / 2;
  for (let count = 0; count < share; count++) queue.add(queuedOf({ owner: "two" }));
  assertThrows(() => queue.add(queuedOf({ owner: "two" })), ServiceError, OVERLOADED);
  assertThrows(() => queue.add(queuedOf({ owner: "one" })), ServiceError, OVERLOADED);
  assertEquals(queue.length, QUEUE_LIMIT);
  assertEquals(ofOne.map(({ isSettled }) => isSettled), ofOne.map((_, index) => index >= share));
  const codes = ofOne.slice(share).map(({ outcome }) => outcome.catch(serviceErrorCode));
  assertEquals([...new Set(await Promise.all(codes))], ["overloaded"]);
});

Deno.test("removeSettled() frees the places of commands that have their outcomes", () => {
  const { queue, take } = queueOf("a a b");
  for (const queued of queue.commands) {
    if (queued.command.owner === "a") queued.resolve({ events: [], prepared: undefined });
  }
  queue.removeSettled();
  assertEquals([queue.length, take(9), queue.length], [1, "b", 0]);
});
