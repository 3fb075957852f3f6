import { assertEquals } from "@std/assert";
import { secondsSinceEvent } from "../../src/log/seconds_since_event.ts";
import { faultyStore } from "../support/faulty_store.ts";
import { openSampleStore } from "../support/sample_store.ts";

Deno.test("secondsSinceEvent() is the age of the event, and undefined without one or without the store", async () => {
  using sample = await openSampleStore(10);
  const { store } = sample;
  const time = Date.parse(JSON.parse(sample.lines[9]).time);
  const runtime = { ...sample.runtime, now: () => time + 2_500 };
  assertEquals(await secondsSinceEvent(store, runtime as typeof sample.runtime, 10), 2.5);
  assertEquals(await secondsSinceEvent(store, sample.runtime, 0), undefined);
  assertEquals(await secondsSinceEvent(store, sample.runtime, undefined), undefined);
  const away = faultyStore(store, { onList: () => Promise.reject(new Error("away")) });
  assertEquals(await secondsSinceEvent(away, sample.runtime, 10), undefined);
});
