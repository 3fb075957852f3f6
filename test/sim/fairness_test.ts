import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { leastPart, type Load, shareStore, type Times } from "./fairness.ts";

/** Stores, by the times that they need. */
const STORES: Record<string, Times> = {
  "a file": { wayMs: 0.03, commitMs: 1, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
  "a server": { wayMs: 0.15, commitMs: 0.5, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
};

/** The clients of each instance. */
const CASES = [[16, 16], [64, 1], [1, 1], [16, 16, 16, 16], [64, 1, 1, 1], [1, 1, 1, 1]];

for (const [store, times] of Object.entries(STORES)) {
  for (const clients of CASES) {
    Deno.test(`instances with ${clients.join(", ")} clients share ${store}: each gets a third of its share, and none waits for a second or fails`, async () => {
      const loads: Load[] = clients.map((clients) => ({ clients }));
      const shares = await shareStore(1, times, loads, 4_000);
      assertEquals(shares.map(({ failed }) => failed), clients.map(() => 0));
      assertGreater(leastPart(loads, shares), 1 / 3, JSON.stringify(shares));
      assertLess(Math.max(...shares.map(({ p99Ms }) => p99Ms)), 1_000);
    });
  }

  Deno.test(`on ${store}, an instance without a rival loses few commits to turns that nobody takes`, async () => {
    for (const clients of [1, 64]) {
      const alone: Load = { clients };
      const [{ done }] = await shareStore(1, times, [alone], 3_000);
      const { clientMs, wayMs, commitMs, prepareMs, recordMs } = times;
      const records = 2 * clients + 1;
      const cycleMs = clientMs + 2 * wayMs + commitMs + clients * prepareMs + records * recordMs;
      assertGreater(done, 0.85 * clients * 3_000 / cycleMs);
    }
  });
}
