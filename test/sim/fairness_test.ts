import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { leastPart, type Load, shareStore, type Times } from "./fairness.ts";

/** Stores, by the times that they need. */
const STORES: Record<string, Times> = {
  "a file": { wayMs: 0.03, commitMs: 1, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
  "a server": { wayMs: 0.15, commitMs: 0.5, recordMs: 0.01, prepareMs: 0.15, clientMs: 0.4 },
};

/** The clients of each instance, the part of its share that each must get, and the longest wait of 99 in 100 commands. */
const CASES: [clients: number[], leastPart: number, p99LimitMs: number][] = [
  [[16, 16], 1 / 3, 1_000],
  [[64, 1], 1 / 3, 1_000],
  [[1, 1], 1 / 3, 1_000],
  [[16, 16, 16, 16], 1 / 3, 1_000],
  [[1, 1, 1, 1], 1 / 3, 1_000],
  // Many clients beside three instances with one each get less, because a large plan takes longer than a small one.
  [[64, 1, 1, 1], 1 / 5, 3_000],
];

for (const [store, times] of Object.entries(STORES)) {
  for (const [clients, least, p99LimitMs] of CASES) {
    Deno.test(`instances with ${clients.join(", ")} clients share ${store}: each gets enough of its share, and none fails`, async () => {
      const loads: Load[] = clients.map((clients) => ({ clients }));
      const shares = await shareStore(1, times, loads, 4_000);
      assertEquals(shares.map(({ failed }) => failed), clients.map(() => 0));
      assertGreater(leastPart(loads, shares), least, JSON.stringify(shares));
      assertLess(Math.max(...shares.map(({ p99Ms }) => p99Ms)), p99LimitMs);
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
