import { assert, assertEquals, assertMatch } from "@std/assert";
import { readConsumers } from "eventstore-less/tools";
import { APPLICATION } from "../../../src/application.ts";
import { WebhookKeys } from "../../../src/webhooks/secrets.ts";
import { consumersKey } from "../../../src/eventstore_less/keyspace.ts";
import { commit } from "../../support/store_contract.ts";
import { WebhookWorld } from "./webhook_world.ts";

const SHOP = "https://shop.example/hooks";
const OTHER = "https://other.example/";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const never = () => new Promise<number>(() => {});

async function reportsIn({ memory: store, runtime }: WebhookWorld) {
  return await readConsumers({ application: APPLICATION, store, runtime });
}

Deno.test("each endpoint gets the events after its addition, in order, as the feed shows them and signed", async () => {
  await using world = await WebhookWorld.open();
  world.start();
  await world.addPets(1);
  const id = await world.add({ url: SHOP });
  await world.addPets(3);
  await world.advance(2_000);
  assertEquals(world.positionsOf(SHOP), [4, 5, 6]);
  const [{ headers, body }] = world.received;
  const event = JSON.parse(body);
  assertEquals([event.type, event.id, event.data.id], ["PetCreated", headers["webhook-id"], 2]);
  assertEquals(event.actor, undefined);
  assertMatch(headers["webhook-signature"], /^v1,[A-Za-z0-9+/]{43}=$/);
  assertEquals(headers["content-type"], "application/cloudevents+json");
  const [{ name, lag }] = await reportsIn(world);
  assertEquals([name, lag], [`webhooks/${id}`, 0]);
});

Deno.test("an endpoint gets only its types, as of the latest change, and no event of keys and webhooks", async () => {
  await using world = await WebhookWorld.open();
  world.start();
  const id = await world.add({ url: SHOP, types: ["PetRemoved"] });
  await world.addPets(2);
  await world.advance(2_000);
  assertEquals(world.positionsOf(SHOP), []);
  const { types, position: predecessor, ...state } = (await world.stateOf(id))!;
  const data = { ...state, previous: { types } };
  await world.append({ type: "WebhookChanged", data, predecessor });
  await world.addPets(1);
  await world.advance(2_000);
  assertEquals(world.positionsOf(SHOP), [6]);
});

Deno.test("an event is tried until it is confirmed, with growing pauses, and none overtakes it", async () => {
  await using world = await WebhookWorld.open();
  world.start();
  let isDown = true;
  world.answers.set(SHOP, () => isDown ? 500 : 204);
  await world.add({ url: SHOP });
  await world.add({ url: OTHER });
  await world.addPets(3);
  await world.advance(2_000);
  assertEquals([world.positionsOf(SHOP), world.positionsOf(OTHER)], [[4], [4, 5, 6]]);
  await world.advance(60_000);
  const times = world.received.filter(({ url }) => url === SHOP).map(({ at }) => at);
  const pauses = times.slice(1).map((at, index) => at - times[index]);
  assertEquals(pauses, [3_750, 7_500, 15_000, 30_000]);
  const [failing] = (await reportsIn(world)).filter(({ failing }) => failing !== undefined);
  assertEquals(failing.failing?.reason, "The receiver answered 500");
  isDown = false;
  await world.advance(60_000);
  assertEquals(world.confirmedBy(SHOP), [4, 5, 6]);
});

Deno.test("a delivery waits as long as Retry-After says", async () => {
  await using world = await WebhookWorld.open();
  world.start();
  const answers = [{ status: 429, retryAfterMs: 60_000 }, { status: 503, retryAfterMs: 0 }];
  world.answers.set(SHOP, () => answers.shift() ?? 200);
  await world.add({ url: SHOP });
  await world.addPets(1);
  await world.advance(120_000);
  const times = world.received.map(({ at }) => at);
  assertEquals(times.slice(1).map((at, index) => at - times[index]), [60_000, 7_500]);
});

Deno.test("a receiver that hangs delays nobody else", async () => {
  await using world = await WebhookWorld.open();
  world.start();
  world.answers.set(SHOP, never);
  await world.add({ url: SHOP });
  await world.add({ url: OTHER });
  await world.addPets(20);
  await world.advance(1_000);
  assertEquals(world.positionsOf(SHOP).length, 1);
  assertEquals(world.positionsOf(OTHER).length, 20);
});

Deno.test("410 disables a webhook at once, and its place stays for the time when it resumes", async () => {
  await using world = await WebhookWorld.open();
  const { reports } = world.start();
  world.answers.set(SHOP, () => 410);
  const id = await world.add({ url: SHOP });
  await world.addPets(2);
  await world.advance(2_000);
  assertEquals((await world.stateOf(id))?.disabledReason, "gone");
  assertEquals(reports.at(-1), ["webhook_disabled", { webhook: id, reason: "gone" }]);
  await world.addPets(1);
  await world.advance(60_000);
  assertEquals(world.positionsOf(SHOP), [3]);
  world.answers.clear();
  await world.change(id, "WebhookResumed", { disabledReason: undefined });
  await world.advance(3_000);
  assertEquals(world.positionsOf(SHOP), [3, 3, 4, 6]);
});

Deno.test("five days of failures disable a webhook, and a success in between does not", async () => {
  await using world = await WebhookWorld.open();
  world.start();
  let isDown = true;
  world.answers.set(SHOP, () => isDown ? 500 : 200);
  const id = await world.add({ url: SHOP });
  const failFor = async (ms: number) => {
    await world.addPets(1);
    // More than ten attempts, and the pause before the next one.
    await world.advance(HOUR_MS);
    world.runtime.jumpClock(ms - HOUR_MS);
    await world.advance(HOUR_MS);
  };
  await failFor(4 * DAY_MS);
  isDown = false;
  await world.advance(2 * HOUR_MS);
  isDown = true;
  await failFor(4 * DAY_MS);
  assertEquals((await world.stateOf(id))?.disabledReason, undefined);
  isDown = false;
  await world.advance(2 * HOUR_MS);
  isDown = true;
  await failFor(5 * DAY_MS);
  assertEquals((await world.stateOf(id))?.disabledReason, "failing");
  // A resumed webhook has five days again.
  await world.change(id, "WebhookResumed", { disabledReason: undefined });
  await failFor(4 * DAY_MS);
  assertEquals((await world.stateOf(id))?.disabledReason, undefined);
});

Deno.test("a clock that jumps by days disables no webhook after a few failures", async () => {
  await using world = await WebhookWorld.open();
  world.start();
  world.answers.set(SHOP, () => 500);
  const id = await world.add({ url: SHOP });
  await world.addPets(1);
  await world.advance(10_000);
  world.runtime.jumpClock(30 * DAY_MS);
  await world.advance(60_000);
  assertEquals((await world.stateOf(id))?.disabledReason, undefined);
});

Deno.test("a webhook that was resumed or changed meanwhile is not disabled", async () => {
  await using world = await WebhookWorld.open();
  world.start();
  const { promise: answer, resolve } = Promise.withResolvers<number>();
  world.answers.set(SHOP, () => answer);
  const id = await world.add({ url: SHOP });
  await world.addPets(1);
  await world.advance(1_000);
  const { position: predecessor, ...state } = (await world.stateOf(id))!;
  const data = { ...state, url: OTHER, previous: { url: SHOP } };
  await world.append({ type: "WebhookChanged", data, predecessor });
  resolve(410);
  await world.advance(10_000);
  assertEquals((await world.stateOf(id))?.disabledReason, undefined);
  assertEquals(world.confirmedBy(OTHER), [3]);
});

Deno.test("a webhook gets nothing after its removal, and leaves neither a place nor attempts", async () => {
  await using world = await WebhookWorld.open();
  const instance = world.start();
  world.answers.set(SHOP, () => 500);
  const id = await world.add({ url: SHOP });
  await world.addPets(1);
  await world.advance(3_000);
  const known = world.received.length;
  await world.change(id, "WebhookRemoved");
  world.answers.clear();
  await world.addPets(1);
  await world.advance(60_000);
  assertEquals(world.received.length, known);
  assertEquals(await reportsIn(world), []);
  const entries = await instance.store.list({ prefix: ["unlogged"] }, { limit: 9 });
  assertEquals(entries, []);
});

Deno.test("a webhook that was disabled before its removal leaves nothing either", async () => {
  await using world = await WebhookWorld.open();
  const instance = world.start();
  world.answers.set(SHOP, () => 410);
  const id = await world.add({ url: SHOP });
  await world.addPets(1);
  await world.advance(12_000);
  assertEquals((await reportsIn(world)).length, 1);
  await world.change(id, "WebhookRemoved");
  await world.advance(12_000);
  assertEquals(await reportsIn(world), []);
  const entries = await instance.store.list({ prefix: ["unlogged"] }, { limit: 9 });
  assertEquals(entries, []);
});

Deno.test("the place of a webhook that was removed while no instance ran is removed by the next one", async () => {
  await using world = await WebhookWorld.open();
  const first = world.start();
  const id = await world.add({ url: SHOP });
  await world.addPets(1);
  await world.advance(3_000);
  await world.runtime.settle(first.deliveries!.stop());
  await world.change(id, "WebhookRemoved");
  assertEquals((await reportsIn(world)).length, 1);
  world.start();
  await world.advance(3_000);
  assertEquals(await reportsIn(world), []);
});

Deno.test("an instance that stops stores its places, so the next one repeats nothing, and takes over at once", async () => {
  await using world = await WebhookWorld.open();
  const first = world.start();
  await world.add({ url: SHOP });
  await world.addPets(3);
  await world.advance(100);
  await world.runtime.settle(first.deliveries!.stop());
  await world.addPets(2);
  world.start();
  await world.advance(2_000);
  assertEquals(world.positionsOf(SHOP), [3, 4, 5, 6, 7]);
});

Deno.test("after a kill, another instance takes over, and repeats only from the last event that has no place", async () => {
  await using world = await WebhookWorld.open();
  const first = world.start();
  await world.add({ url: SHOP });
  await world.addPets(3);
  await world.advance(2_000);
  world.start();
  await world.advance(2_000);
  world.kill(first);
  await world.addPets(2);
  await world.advance(15_000);
  assertEquals(world.positionsOf(SHOP), [3, 4, 5, 6, 7]);
});

Deno.test("a webhook whose key is missing is not called, and the other instance that has it calls", async () => {
  await using world = await WebhookWorld.open();
  const { reports } = world.start(WebhookKeys.of([new Uint8Array(32).fill(8)]));
  const id = await world.add({ url: SHOP });
  await world.addPets(1);
  await world.advance(5_000);
  assertEquals(world.received, []);
  // The operator hears of it once.
  assertEquals(reports, [["webhook_key_missing", { webhook: id }]]);
  world.start();
  await world.advance(5_000);
  assertEquals(world.confirmedBy(SHOP), [3]);
});

Deno.test("stop() ends a call that hangs within seconds", async () => {
  await using world = await WebhookWorld.open();
  const { deliveries } = world.start();
  world.answers.set(SHOP, never);
  await world.add({ url: SHOP });
  await world.addPets(1);
  await world.advance(2_000);
  const begun = world.runtime.monotonicNow();
  await world.runtime.settle(deliveries!.stop());
  assert(world.runtime.monotonicNow() - begun <= 3_500);
  assertEquals(world.received.length, 1);
});

Deno.test("in a restored store, deliveries are stopped until a place is named, and new webhooks are not", async () => {
  await using world = await WebhookWorld.open();
  const before = world.start();
  const id = await world.add({ url: SHOP });
  await world.addPets(3);
  await world.advance(2_000);
  await world.runtime.settle(before.deliveries!.stop());
  // No export has a place.
  await commit(world.memory, [{ type: "delete", key: consumersKey("webhooks") }]);
  const { eventStore } = world.start();
  await world.advance(3_000);
  await world.add({ url: OTHER });
  await world.addPets(1);
  await world.advance(3_000);
  assertEquals([world.positionsOf(SHOP), world.positionsOf(OTHER)], [[3, 4, 5], [7]]);
  const stopped = (await reportsIn(world)).filter(({ isStopped }) => isStopped);
  assertEquals(stopped.map(({ name }) => name), [`webhooks/${id}`]);
  await world.runtime.settle(eventStore.placeConsumer(`webhooks/${id}`, 4));
  await world.advance(3_000);
  assertEquals(world.positionsOf(SHOP), [3, 4, 5, 5, 7]);
});
