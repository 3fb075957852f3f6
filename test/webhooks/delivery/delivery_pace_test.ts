import { assertEquals } from "@std/assert";
import { FakeRuntime } from "eventstore-less/testing";
import { DeliveryPace } from "../../../src/webhooks/delivery/delivery_pace.ts";

/** How many of 100 deliveries begin within a second in which an instance has so many requests. */
async function begunWith(requestsPerSecond: number): Promise<number> {
  const runtime = new FakeRuntime();
  const background = { requestCount: 0 };
  const pace = new DeliveryPace(background, runtime);
  await pace.turn();
  let begun = 0;
  const deliver = async () => {
    for (let count = 0; count < 10; count++) {
      await pace.turn();
      begun++;
    }
  };
  background.requestCount += requestsPerSecond / 10;
  await runtime.advance(100);
  for (let endpoint = 0; endpoint < 10; endpoint++) void deliver();
  for (let step = 0; step < 10; step++) {
    background.requestCount += requestsPerSecond / 10;
    await runtime.advance(100);
  }
  return begun;
}

Deno.test("DeliveryPace lets all deliveries begin at once, unless the instance has many requests", async () => {
  assertEquals(await begunWith(400), 100);
  assertEquals(await begunWith(5_000), 51);
});
