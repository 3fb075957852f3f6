import { assertEquals } from "@std/assert";
import { LogStatistics } from "../../../scripts/report/log_statistics.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { liveKeyOf, sampleLog } from "../../support/sample_log.ts";

const encoder = new TextEncoder();
const encoded = (lines: string[]) => lines.map((line) => encoder.encode(line));

Deno.test("LogStatistics counts events by day, status and key", () => {
  // From the last ten seconds of a day on.
  const lines = sampleLog(40, { since: Date.parse("2026-03-31T23:59:49.999Z") });
  const statistics = new LogStatistics();
  statistics.add(encoded(lines.slice(0, 15)));
  statistics.add(encoded(lines.slice(15)));
  const { unreadable, first, last, hash } = statistics;
  assertEquals([statistics.lines, unreadable, hash], [40, 0, sha256Hex(lines[39])]);
  assertEquals([first?.position, first?.time], [1, "2026-03-31T23:59:50.999Z"]);
  assertEquals([last?.position, last?.time], [40, "2026-04-01T00:00:29.999Z"]);
  assertEquals([...statistics.byDay], [["2026-03-31", 10], ["2026-04-01", 30]]);
  assertEquals([...statistics.byStatus].reduce((sum, [, pets]) => sum + pets, 0), 33);
  assertEquals(statistics.byStatus.get(undefined), 8);
  const keys = [...statistics.keys.values()];
  assertEquals(keys.map(({ pets }) => pets), [9, 8, 8, 8]);
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
  assertEquals([...statistics.keys.values()].map(({ key, pets }) => [key?.label, pets]), [
    [undefined, 5],
    ["key 11", 8],
  ]);
});
