import { sleep } from "eventstore-less/parts";
import { systemRuntime } from "eventstore-less/startup";
import { assert, assertEquals } from "@std/assert";

Deno.test("setTimer() calls each callback once, not early, unless it was cancelled", async () => {
  const ran: string[] = [];
  const start = performance.now();
  const took: number[] = [];
  const note = (name: string) => () => {
    ran.push(name);
    took.push(performance.now() - start);
  };
  systemRuntime.setTimer(1_000, note("long"));
  systemRuntime.setTimer(1_001, note("long"));
  const cancelLong = systemRuntime.setTimer(1_000, note("cancelled"));
  systemRuntime.setTimer(10, note("short"));
  const cancelShort = systemRuntime.setTimer(10, note("cancelled"));
  cancelLong();
  cancelShort();
  await sleep(systemRuntime, 1_300);
  cancelLong();
  assertEquals(ran, ["short", "long", "long"]);
  assert(took[0] >= 9 && took[1] >= 999, `${took} ms`);
});
