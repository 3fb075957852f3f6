import { assertEquals } from "@std/assert";
import { LOG_PREFIX } from "../../src/keyspace.ts";
import { readLogRecords } from "../../src/log/read_log.ts";
import { SCAN_LIMIT } from "../../src/store/scan.ts";
import { faultyStore } from "../support/faulty_store.ts";
import { openSampleStore } from "../support/sample_store.ts";

/** Last positions of the records of 20 lines in groups of 3 and 5. */
const LASTS = [3, 8, 11, 16, 19, 20];

Deno.test("readLogRecords() yields the records that hold the lines from one position to another", async () => {
  using sample = await openSampleStore(20, [3, 5]);
  for (let from = 1; from <= 20; from++) {
    for (let to = 0; to <= 20; to++) {
      const batches = await Array.fromAsync(readLogRecords(sample.store, { from, to }));
      const first = LASTS.findIndex((last) => last >= from);
      const end = LASTS.findIndex((last) => last >= to) + 1;
      const expected = from > to ? [] : LASTS.slice(first, end);
      assertEquals(batches.flat().map(({ last }) => last), expected, `${from} to ${to}`);
    }
  }
});

Deno.test("readLogRecords() reads no batch after that of the last position", async () => {
  using sample = await openSampleStore(3 * SCAN_LIMIT, [1]);
  const store = faultyStore(sample.store);
  const records = (await Array.fromAsync(readLogRecords(store, { to: 10 }))).flat();
  assertEquals(records.length, 10);
  // The scan reads one batch ahead.
  assertEquals(store.lists.length <= 2, true);
});

Deno.test("readLogRecords() yields values as they are stored", async () => {
  using sample = await openSampleStore(10, [5]);
  const key = [...LOG_PREFIX, 5];
  await sample.store.commit({ checks: [], mutations: [{ type: "set", key, value: "text" }] });
  const [first, second] = (await Array.fromAsync(readLogRecords(sample.store, { to: 10 }))).flat();
  assertEquals([first.last, first.value], [5, "text"]);
  assertEquals(second.value instanceof Uint8Array, true);
});
