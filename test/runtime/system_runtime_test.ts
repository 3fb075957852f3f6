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

Deno.test("setTimer() calls the others of a moment if one throws, and its error is uncaught", async () => {
  const ran: string[] = [];
  const uncaught: string[] = [];
  const note = (event: ErrorEvent) => {
    event.preventDefault();
    uncaught.push(event.error.message);
  };
  addEventListener("error", note);
  try {
    const throwing = () => {
      throw new Error("It fails");
    };
    // They share one timer of the system.
    for (const run of [() => ran.push("first"), throwing, () => ran.push("last")]) {
      systemRuntime.setTimer(1_000, run);
    }
    await sleep(systemRuntime, 1_300);
  } finally {
    removeEventListener("error", note);
  }
  assertEquals([ran, uncaught], [["first", "last"], ["It fails"]]);
});
