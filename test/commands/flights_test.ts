import { assertEquals, assertRejects } from "@std/assert";
import { Flights, FLIGHTS_LIMIT_MS, FLIGHTS_WAITING_LIMIT } from "../../src/commands/flights.ts";
import { Failure } from "../../src/failure.ts";
import { FakeHost } from "../fake_host.ts";

const neverStarted = () => Promise.reject(new Error("started"));

Deno.test("share() lets who comes second wait for the first and have its outcome", async () => {
  const flights = new Flights<{ id: number }>(new FakeHost());
  const first = Promise.withResolvers<{ id: number }>();
  const all = [flights.share("a", () => first.promise)];
  for (let count = 0; count < 3; count++) all.push(flights.share("a", neverStarted));
  first.resolve({ id: 1 });
  assertEquals(await Promise.all(all), [{ id: 1 }, { id: 1 }, { id: 1 }, { id: 1 }]);
});

Deno.test("share() keeps names apart, and frees a name when its flight is over", async () => {
  const flights = new Flights<{ id: number }>(new FakeHost());
  const first = Promise.withResolvers<{ id: number }>();
  const one = flights.share("a", () => first.promise);
  assertEquals(await flights.share("b", () => Promise.resolve({ id: 2 })), { id: 2 });
  first.resolve({ id: 1 });
  assertEquals(await one, { id: 1 });
  assertEquals(await flights.share("a", () => Promise.resolve({ id: 3 })), { id: 3 });
});

Deno.test("share() starts one of those that wait where the first failed, and one only", async () => {
  const flights = new Flights<{ id: number }>(new FakeHost());
  const first = Promise.withResolvers<{ id: number }>();
  const failed = assertRejects(() => flights.share("a", () => first.promise), Error, "no store");
  let started = 0;
  const start = () => Promise.resolve({ id: ++started });
  const others = [1, 2, 3].map(() => flights.share("a", start));
  first.reject(new Error("no store"));
  await failed;
  assertEquals(await Promise.all(others), [{ id: 1 }, { id: 1 }, { id: 1 }]);
  assertEquals(started, 1);
});

Deno.test("share() waits for no further one after its limit", async () => {
  const host = new FakeHost();
  const flights = new Flights<{ id: number }>(host);
  const [first, second] = [1, 2].map(() => Promise.withResolvers<{ id: number }>());
  const all = [
    flights.share("a", () => first.promise),
    flights.share("a", () => second.promise),
    flights.share("a", neverStarted),
  ].map((flight) => flight.catch((error) => error));
  await host.advance(FLIGHTS_LIMIT_MS - 1);
  first.reject(new Error("first"));
  await host.advance(1);
  second.reject(new Error("second"));
  const [one, two, three] = await Promise.all(all);
  assertEquals([one.message, two.message], ["first", "second"]);
  assertEquals(three instanceof Failure && three.code, "outcome_unknown");
});

Deno.test("share() refuses at once who would be one too many to wait, and no more when there is room", async () => {
  const flights = new Flights<{ id: number }>(new FakeHost());
  const first = Promise.withResolvers<{ id: number }>();
  const all = Array.from(
    { length: FLIGHTS_WAITING_LIMIT + 1 },
    () => flights.share("a", () => first.promise),
  );
  const { code } = await assertRejects(() => flights.share("a", neverStarted), Failure);
  assertEquals(code, "outcome_unknown");
  first.resolve({ id: 1 });
  assertEquals(new Set((await Promise.all(all)).map(({ id }) => id)), new Set([1]));
  const second = Promise.withResolvers<{ id: number }>();
  const next = [flights.share("a", () => second.promise), flights.share("a", neverStarted)];
  second.resolve({ id: 2 });
  assertEquals(await Promise.all(next), [{ id: 2 }, { id: 2 }]);
});
