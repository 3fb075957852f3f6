import { assertEquals } from "@std/assert";
import { PortShare } from "../../src/life_cycle/port_share.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { LINUX, permissions, testNeeding } from "../support/test_needing.ts";

testNeeding(permissions("net"), LINUX)(
  "PortShare leaves a port to another process that is ready, and to no other",
  async () => {
    const statuses = { own: 503, other: 503 };
    const listen = (name: "own" | "other", port: number) =>
      Deno.serve({
        hostname: "127.0.0.1",
        port,
        reusePort: true,
        onListen: () => {},
      }, () => new Response(null, { status: statuses[name] }));
    await using own = listen("own", 0);
    await using _ = listen("other", own.addr.port);
    const events: string[] = [];
    const share = new PortShare({
      address: { hostname: "127.0.0.1", port: own.addr.port },
      isReady: () => Promise.resolve(statuses.own === 200),
      // A second of the clock takes a tenth of one.
      runtime: {
        ...systemRuntime,
        setTimer: (ms, call) => systemRuntime.setTimer(ms / 10, call),
      },
      report: (_level, event) => void events.push(event),
    });
    let isUnneeded = false;
    // Neither is ready, so it listens, and stays.
    await share.untilNeeded();
    const unneeded = share.untilUnneeded().then(() => {
      isUnneeded = true;
    });
    await pause();
    statuses.own = 200;
    await pause();
    statuses.other = 200;
    await pause();
    assertEquals([isUnneeded, events], [false, []]);
    statuses.own = 503;
    await unneeded;
    // Its successor listens once it is ready, or once the other one is not.
    for (const [own, other] of [[200, 200], [503, 503]]) {
      Object.assign(statuses, { own: 503, other: 200 });
      let isNeeded = false;
      const needed = share.untilNeeded().then(() => isNeeded = true);
      await pause();
      assertEquals(isNeeded, false);
      Object.assign(statuses, { own, other });
      await needed;
    }
    assertEquals(events, ["not_listening", "not_listening"]);
  },
);

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 600));
}
