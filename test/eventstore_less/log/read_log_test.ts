import { APPLICATION } from "../../../src/application.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { logKey } from "../../../src/eventstore_less/keyspace.ts";
import {
  LogDamagedError,
  readLog,
  secondsSinceEvent,
} from "../../../src/eventstore_less/log/read_log.ts";
import type { Store } from "../../../src/eventstore_less/store/store.ts";
import { faultyStore } from "../../support/faulty_store.ts";
import { linesToBytes } from "../../support/sample_log.ts";
import { openSampleStore } from "../../support/sample_store.ts";
import { putRecord } from "../../support/set_record.ts";

const LENGTH = 20;
const NO_LINES = "is in a damaged record";

type Lines = (from: number, to: number) => Uint8Array;
type Changes = Record<number, Uint8Array | undefined>;

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
  // Records of the lines 1 to 3, 4 to 8, 9 to 11, 12 to 16, 17 to 19 and 20. The damage is not seen from `soundFrom` on.
  const damages: [changes: (lines: Lines) => Changes, fault: string, soundFrom: number][] = [
    [() => ({ 3: undefined }), "1 of the log is missing", 4],
    [() => ({ 11: undefined }), "9 of the log is missing", 12],
    [() => ({ 20: undefined }), "20 of the log is missing", 21],
    [(lines) => ({ 8: lines(6, 8) }), "4 of the log is missing", 6],
    [(lines) => ({ 11: lines(8, 11) }), "8 of the log is there twice", 9],
    [(lines) => ({ 10: lines(9, 10) }), "9 of the log is there twice", 11],
    [(lines) => ({ 11: lines(9, 11).slice(0, -1) }), `9 of the log ${NO_LINES}`, 12],
    [() => ({ 11: new Uint8Array() }), `9 of the log ${NO_LINES}`, 12],
    [(lines) => ({ 3: lines(1, 4) }), `1 of the log ${NO_LINES}`, 4],
  ];
  for (const [changes, fault, soundFrom] of damages) {
    using sample = await openSampleStore(LENGTH, [3, 5]);
    const values = changes((from, to) => linesToBytes(sample.lines.slice(from - 1, to)));
    for (const [last, value] of Object.entries(values)) {
      await putRecord(sample.store, logKey(Number(last)), value);
    }
    await assertRejects(() => read(sample.store, 1, LENGTH), LogDamagedError, `Position ${fault}`);
    const rest = await read(sample.store, soundFrom, LENGTH);
    assertEquals(rest.length, LENGTH - soundFrom + 1, fault);
  }
});

Deno.test("secondsSinceEvent(APPLICATION) is the age of the event, and undefined without one or without the store", async () => {
  using sample = await openSampleStore(10);
  const { store } = sample;
  const time = Date.parse(JSON.parse(sample.lines[9]).time);
  const runtime = { ...sample.runtime, now: () => time + 2_500 };
  assertEquals(
    await secondsSinceEvent(APPLICATION, store, runtime as typeof sample.runtime, 10),
    2.5,
  );
  assertEquals(await secondsSinceEvent(APPLICATION, store, sample.runtime, 0), undefined);
  assertEquals(await secondsSinceEvent(APPLICATION, store, sample.runtime, undefined), undefined);
  const away = faultyStore(store, { onList: () => Promise.reject(new Error("away")) });
  assertEquals(await secondsSinceEvent(APPLICATION, away, sample.runtime, 10), undefined);
});
