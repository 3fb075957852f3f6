import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { SECONDS, testNeeding } from "../support/test_needing.ts";
import { leastPart, type Load, shareStore, type Times } from "./fairness.ts";

const test = testNeeding(SECONDS);

/** An instance that starts when the others have taken turns for seconds. */
const LATE: Load = { clients: 16, startsAtMs: 3_000 };
/** The ways from this one to the store take five times as long. */
const LATE_AND_SLOW: Load = { ...LATE, slowness: 5 };

const busy = (clients: number, count: number) => Array<Load>(count).fill({ clients });

/** Stores by the times that they need, each with the loads of the instances that share it. */
const STORES: Record<string, { times: Times; cases: Load[][] }> = {
  "a file": {
    times: { wayMs: 0.03, commitMs: 1, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
    cases: [
      [{ clients: 64 }, ...busy(1, 3)],
      busy(1, 2),
      [...busy(64, 3), LATE],
      [...busy(16, 3), LATE_AND_SLOW],
    ],
  },
  "a server": {
    times: { wayMs: 0.15, commitMs: 0.5, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
    cases: [
      [{ clients: 64 }, { clients: 1 }],
      busy(16, 4),
      [...busy(16, 3), LATE_AND_SLOW],
    ],
  },
  "a distant server": {
    times: { wayMs: 2, commitMs: 1, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
    cases: [
      [{ clients: 16 }, LATE_AND_SLOW],
      [...busy(64, 3), LATE],
      [...busy(64, 3), LATE_AND_SLOW],
      [...busy(16, 3), LATE_AND_SLOW],
      [...busy(16, 2), LATE_AND_SLOW, LATE_AND_SLOW],
    ],
  },
};

for (const [store, { times, cases }] of Object.entries(STORES)) {
  for (const loads of cases) {
    const names = loads.map(({ clients, slowness, startsAtMs }) =>
      `${clients}${slowness ? " slow" : ""}${startsAtMs ? " late" : ""}`
    );
    test(`instances with ${names.join(", ")} clients share ${store}: each gets a third of its share, and none waits for two seconds or fails`, async () => {
      const shares = await shareStore(1, times, loads, 2_000);
      const shown = JSON.stringify(shares);
      assertEquals(shares.map(({ failed }) => failed), loads.map(() => 0));
      assertGreater(leastPart(loads, shares), 1 / 3, shown);
      assertLess(Math.max(...shares.map(({ p99Ms }) => p99Ms)), 1_000, shown);
      assertLess(Math.max(...shares.map(({ firstMs }) => firstMs)), 2_000, shown);
    });
  }

  test(`on ${store}, an instance without a rival waits for nobody in ten seconds of commits`, async () => {
    const [{ done, headReads }] = await shareStore(1, times, [{ clients: 1 }], 10_000);
    // Each wait for a turn begins with a read of the head.
    assertEquals(headReads, 0);
    const { clientMs, wayMs, commitMs, prepareMs, recordMs } = times;
    const cycleMs = clientMs + 2 * wayMs + commitMs + prepareMs + 3 * recordMs;
    assertGreater(done, 0.9 * 10_000 / cycleMs);
  });
}
