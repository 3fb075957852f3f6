import { assertEquals, assertRejects } from "@std/assert";
import { APPEND_LIMIT_MS } from "../../src/append/appender.ts";
import { SINGLE_FLIGHT_WAITING_LIMIT, SingleFlight } from "../../src/commands/single_flight.ts";
import { ServiceError } from "../../src/service_error.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";

const neverStarted = () => Promise.reject(new Error("started"));

Deno.test("share() gives concurrent calls with the same key the outcome of the first", async () => {
  const singleFlight = new SingleFlight<number>(new FakeRuntime());
  const first = Promise.withResolvers<number>();
  const all = [singleFlight.share("a", () => first.promise)];
  for (let count = 0; count < 3; count++) all.push(singleFlight.share("a", neverStarted));
  first.resolve(1);
  assertEquals(await Promise.all(all), [1, 1, 1, 1]);
});

Deno.test("share() separates keys, and frees a key when its call ends", async () => {
  const singleFlight = new SingleFlight<number>(new FakeRuntime());
  const first = Promise.withResolvers<number>();
  const one = singleFlight.share("a", () => first.promise);
  assertEquals(await singleFlight.share("b", () => Promise.resolve(2)), 2);
  first.resolve(1);
  assertEquals(await one, 1);
  assertEquals(await singleFlight.share("a", () => Promise.resolve(3)), 3);
});

Deno.test("share() starts exactly one waiting call if the first fails", async () => {
  const singleFlight = new SingleFlight<number>(new FakeRuntime());
  const first = Promise.withResolvers<number>();
  const failed = assertRejects(
    () => singleFlight.share("a", () => first.promise),
    Error,
    "no store",
  );
  let started = 0;
  const start = () => Promise.resolve(++started);
  const others = [1, 2, 3].map(() => singleFlight.share("a", start));
  first.reject(new Error("no store"));
  await failed;
  assertEquals(await Promise.all(others), [1, 1, 1]);
  assertEquals(started, 1);
});

Deno.test("share() starts the next waiting call if the first has no outcome", async () => {
  const singleFlight = new SingleFlight<number>(new FakeRuntime());
  const outcomes = [undefined, 2].map((it) => () => Promise.resolve(it));
  const all = [...outcomes, neverStarted].map((start) => singleFlight.share("a", start));
  assertEquals(await Promise.all(all), [undefined, 2, 2]);
});

Deno.test("share() starts no further call after its time limit", async () => {
  const runtime = new FakeRuntime();
  const singleFlight = new SingleFlight<number>(runtime);
  const [first, second] = [1, 2].map(() => Promise.withResolvers<number>());
  const all = [
    singleFlight.share("a", () => first.promise),
    singleFlight.share("a", () => second.promise),
    singleFlight.share("a", neverStarted),
  ].map((flight) => flight.catch((error) => error));
  await runtime.advance(APPEND_LIMIT_MS - 1);
  first.reject(new Error("first"));
  await runtime.advance(1);
  second.reject(new Error("second"));
  const [one, two, three] = await Promise.all(all);
  assertEquals([one.message, two.message], ["first", "second"]);
  assertEquals(three instanceof ServiceError && three.code, "outcome_unknown");
});

Deno.test("share() rejects a call at once if too many wait, and accepts calls when there is room", async () => {
  const singleFlight = new SingleFlight<number>(new FakeRuntime());
  const first = Promise.withResolvers<number>();
  const all = Array.from(
    { length: SINGLE_FLIGHT_WAITING_LIMIT + 1 },
    () => singleFlight.share("a", () => first.promise),
  );
  const { code } = await assertRejects(() => singleFlight.share("a", neverStarted), ServiceError);
  assertEquals(code, "outcome_unknown");
  first.resolve(1);
  assertEquals(new Set(await Promise.all(all)), new Set([1]));
  const second = Promise.withResolvers<number>();
  const next = [
    singleFlight.share("a", () => second.promise),
    singleFlight.share("a", neverStarted),
  ];
  second.resolve(2);
  assertEquals(await Promise.all(next), [2, 2]);
});
