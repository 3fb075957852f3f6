import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { leastPart, type Load, shareStore, type Times } from "./fairness.ts";

/** Stores by the times that they need, each with the clients of the instances that share it. */
const STORES: Record<string, { times: Times; cases: number[][] }> = {
  "a file": {
    times: { wayMs: 0.03, commitMs: 1, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
    cases: [[64, 1, 1, 1], [1, 1]],
  },
  "a server": {
    times: { wayMs: 0.15, commitMs: 0.5, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
    cases: [[64, 1], [16, 16, 16, 16]],
  },
};

for (const [store, { times, cases }] of Object.entries(STORES)) {
  for (const clients of cases) {
    Deno.test(`instances with ${clients.join(", ")} clients share ${store}: each gets a third of its share, and none waits for a second or fails`, async () => {
      const loads: Load[] = clients.map((clients) => ({ clients }));
      const shares = await shareStore(1, times, loads, 2_000);
      assertEquals(shares.map(({ failed }) => failed), clients.map(() => 0));
      assertGreater(leastPart(loads, shares), 1 / 3, JSON.stringify(shares));
      assertLess(Math.max(...shares.map(({ p99Ms }) => p99Ms)), 1_000);
    });
  }

  Deno.test(`on ${store}, an instance without a rival loses few commits to turns that nobody takes`, async () => {
    const [{ done }] = await shareStore(1, times, [{ clients: 1 }], 2_000);
    const { clientMs, wayMs, commitMs, prepareMs, recordMs } = times;
    const cycleMs = clientMs + 2 * wayMs + commitMs + prepareMs + 3 * recordMs;
    assertGreater(done, 0.85 * 2_000 / cycleMs);
  });
}
