import { assertEquals, assertRejects } from "@std/assert";
import { logKey } from "../../src/keyspace.ts";
import { LogDamagedError, readLog } from "../../src/log/read_whole_log.ts";
import type { Store } from "../../src/store/store.ts";
import { linesToBytes } from "../support/sample_log.ts";
import { openSampleStore } from "../support/sample_store.ts";

const LENGTH = 20;

async function read(store: Store, from: number, to: number) {
  const batches = await Array.fromAsync(readLog(store, { from, to }));
  return batches.flat().map(({ position, line }) => ({
    position,
    line: new TextDecoder().decode(line),
  }));
}

Deno.test("readLog() yields exactly the lines of a range, whatever their grouping", async () => {
  for (const sizes of [[1], [3, 5], [1, 4, 2, 7], [LENGTH]]) {
    using sample = await openSampleStore(LENGTH, sizes);
    for (let from = 1; from <= LENGTH; from++) {
      for (let to = from - 1; to <= LENGTH; to++) {
        const expected = sample.lines.map((line, index) => ({ position: index + 1, line }))
          .slice(from - 1, to);
        assertEquals(await read(sample.store, from, to), expected, `${from} to ${to} of ${sizes}`);
      }
    }
  }
});

Deno.test("readLog() rejects at the first position that is missing, repeated or not a line", async () => {
  // Records of the lines 1 to 3, 4 to 8, 9 to 11, 12 to 16, 17 to 19 and 20.
  const damages: {
    name: string;
    changes: (lines: (from: number, to: number) => Uint8Array) => Record<
      number,
      Uint8Array | string | undefined
    >;
    message: string;
    /** The first position at which the damage is not seen. */
    soundFrom: number;
  }[] = [
    {
      name: "the first record is missing",
      changes: () => ({ 3: undefined }),
      message: "Position 1 of the log is missing",
      soundFrom: 4,
    },
    {
      name: "a record is missing",
      changes: () => ({ 11: undefined }),
      message: "Position 9 of the log is missing",
      soundFrom: 12,
    },
    {
      name: "the last record is missing",
      changes: () => ({ 20: undefined }),
      message: "Position 20 of the log is missing",
      soundFrom: 21,
    },
    {
      name: "lines are missing at the start of a record",
      changes: (lines) => ({ 8: lines(6, 8) }),
      message: "Position 4 of the log is missing",
      soundFrom: 6,
    },
    {
      name: "a line is repeated in the next record",
      changes: (lines) => ({ 11: lines(8, 11) }),
      message: "Position 8 of the log is there twice",
      soundFrom: 9,
    },
    {
      name: "a record is repeated within another one",
      changes: (lines) => ({ 10: lines(9, 10) }),
      message: "Position 9 of the log is there twice",
      soundFrom: 11,
    },
    {
      name: "a record is not bytes",
      changes: () => ({ 11: "text" }),
      message: "Position 9 of the log is in a record without lines",
      soundFrom: 12,
    },
    {
      name: "a record has lost its last line feed",
      changes: (lines) => ({ 11: lines(9, 11).slice(0, -1) }),
      message: "Position 9 of the log is in a record without lines",
      soundFrom: 12,
    },
    {
      name: "a record is empty",
      changes: () => ({ 11: new Uint8Array() }),
      message: "Position 9 of the log is in a record without lines",
      soundFrom: 12,
    },
    {
      name: "a record holds more lines than its position",
      changes: (lines) => ({ 3: lines(1, 4) }),
      message: "Position 1 of the log is in a record without lines",
      soundFrom: 4,
    },
  ];
  for (const { name, changes, message, soundFrom } of damages) {
    using sample = await openSampleStore(LENGTH, [3, 5]);
    const values = changes((from, to) => linesToBytes(sample.lines.slice(from - 1, to)));
    for (const [last, value] of Object.entries(values)) {
      const key = logKey(Number(last));
      await sample.store.commit({
        checks: [],
        mutations: [value === undefined ? { type: "delete", key } : { type: "set", key, value }],
      });
    }
    await assertRejects(() => read(sample.store, 1, LENGTH), LogDamagedError, message);
    const rest = await read(sample.store, soundFrom, LENGTH);
    assertEquals(rest.length, LENGTH - soundFrom + 1, name);
  }
});
