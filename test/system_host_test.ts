import { assert, assertEquals } from "@std/assert";
import { sleep } from "../src/host.ts";
import { systemHost } from "../src/system_host.ts";

Deno.test("after() runs each once, in time or shortly after, unless it was cancelled", async () => {
  const ran: string[] = [];
  const start = performance.now();
  const took: number[] = [];
  const note = (name: string) => () => {
    ran.push(name);
    took.push(performance.now() - start);
  };
  systemHost.after(1_000, note("long"));
  systemHost.after(1_001, note("long"));
  const cancelLong = systemHost.after(1_000, note("cancelled"));
  systemHost.after(10, note("short"));
  const cancelShort = systemHost.after(10, note("cancelled"));
  cancelLong();
  cancelShort();
  await sleep(systemHost, 1_300);
  cancelLong();
  assertEquals(ran, ["short", "long", "long"]);
  assert(took[0] >= 9 && took[1] >= 999, `${took} ms`);
});
