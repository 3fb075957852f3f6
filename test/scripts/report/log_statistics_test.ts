import { assertEquals } from "@std/assert";
import { LogStatistics } from "../../../scripts/report/log_statistics.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { liveKeyOf, sampleLog } from "../../support/sample_log.ts";

const encoder = new TextEncoder();
const encoded = (lines: string[]) => lines.map((line) => encoder.encode(line));

/** The numbers of the pets that the lines add, by the status that these have at last. */
function statusesOf(lines: string[]): Record<string, number> {
  const statuses = new Map<number, string>();
  for (const line of lines) {
    const { type, data } = JSON.parse(line);
    if (type === "PetCreated" || statuses.has(data.id)) statuses.set(data.id, String(data.status));
  }
  const counts = Object.groupBy(statuses.values(), (status) => status);
  return Object.fromEntries(Object.entries(counts).map(([status, all]) => [status, all!.length]));
}

Deno.test("LogStatistics counts pets by their status now, of a part of a log those that it adds", () => {
  const lines = sampleLog(200);
  for (const from of [0, 4, 50, 130, 194]) {
    const part = lines.slice(from);
    const statistics = new LogStatistics();
    statistics.add(encoded(part));
    const counts = [...statistics.byStatus].filter(([, pets]) => pets > 0);
    assertEquals(Object.fromEntries(counts), statusesOf(part));
  }
});

Deno.test("LogStatistics counts events, additions and changes by hour and by key, and finds the first and the last", () => {
  // From the last ten seconds of a day on.
  const lines = sampleLog(40, Date.parse("2026-03-31T23:59:49.999Z"));
  const statistics = new LogStatistics();
  statistics.add(encoded(lines.slice(0, 15)));
  statistics.add(encoded(lines.slice(15)));
  const { unreadable, first, last, hash } = statistics;
  assertEquals([statistics.lines, unreadable, hash], [40, 0, sha256Hex(lines[39])]);
  assertEquals([first?.position, first?.time], [1, "2026-03-31T23:59:50.999Z"]);
  assertEquals([last?.position, last?.time], [40, "2026-04-01T00:00:29.999Z"]);
  assertEquals([...statistics.byHour], [
    ["2026-03-31T23", { added: 7, changed: 2 }],
    ["2026-04-01T00", { added: 18, changed: 6 }],
  ]);
  const keys = [...statistics.keys.values()];
  assertEquals(keys.map(({ added, changed }) => [added, changed]), [[7, 2], [6, 2], [6, 2], [
    6,
    2,
  ]]);
  assertEquals(keys.map(({ key }) => key?.isRevoked), [true, true, true, undefined]);
  const { id, key, firstUse, lastUse } = keys[3];
  assertEquals([id, key?.label, firstUse, lastUse], [
    liveKeyOf(lines),
    "key 31",
    "2026-04-01T00:00:22.999Z",
    "2026-04-01T00:00:29.999Z",
  ]);
});

Deno.test("LogStatistics counts lines that it cannot read, and keys whose issue it has not seen", () => {
  const lines = sampleLog(20);
  const statistics = new LogStatistics();
  statistics.add(encoded(lines.slice(4).with(3, "{}")));
  assertEquals([statistics.lines, statistics.unreadable, statistics.first?.position], [16, 1, 5]);
  assertEquals([...statistics.keys.values()].map(({ key, added }) => [key?.label, added]), [
    [undefined, 3],
    ["key 11", 6],
  ]);
});
