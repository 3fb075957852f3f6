import { assertEquals } from "@std/assert";
import { LogStatistics } from "../../../scripts/report/log_statistics.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { liveKeyOf, sampleLog } from "../../support/sample_log.ts";

const encoder = new TextEncoder();
const encoded = (lines: string[]) => lines.map((line) => encoder.encode(line));

Deno.test("LogStatistics counts events by type, day, status and key", () => {
  // From the last ten seconds of a day on.
  const lines = sampleLog(40, { since: Date.parse("2026-03-31T23:59:49.999Z") });
  const statistics = new LogStatistics();
  statistics.add(encoded(lines.slice(0, 15)));
  statistics.add(encoded(lines.slice(15)));
  const { firstPosition, position, unreadable, firstTime, lastTime, hash } = statistics;
  assertEquals(
    [statistics.lines, firstPosition, position, unreadable, firstTime, lastTime, hash],
    [
      40,
      1,
      40,
      0,
      "2026-03-31T23:59:50.999Z",
      "2026-04-01T00:00:29.999Z",
      sha256Hex(lines[39]),
    ],
  );
  assertEquals([...statistics.byDay], [["2026-03-31", 10], ["2026-04-01", 30]]);
  assertEquals([...statistics.byType], [
    ["ApiKeyIssued", 4],
    ["PetCreated", 33],
    ["ApiKeyRevoked", 3],
  ]);
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
  assertEquals(statistics.byCommitSize.size, 0);
});

Deno.test("LogStatistics counts commits by their number of events, although a commit has several records", () => {
  const lines = encoded(sampleLog(10));
  const statistics = new LogStatistics();
  for (
    const [from, to, versionstamp] of [[0, 1, 7], [1, 3, 8], [3, 5, 8], [5, 9, 9], [9, 10, 11]]
  ) {
    statistics.addRecord(lines.slice(from, to), String(versionstamp));
  }
  assertEquals([...statistics.byCommitSize], [[1, 2], [4, 2]]);
});

Deno.test("LogStatistics counts lines that it cannot read, and keys whose issue it has not seen", () => {
  const lines = sampleLog(20);
  const statistics = new LogStatistics();
  statistics.add(encoded(lines.slice(4).with(3, "{}")));
  assertEquals([statistics.lines, statistics.unreadable, statistics.firstPosition], [16, 1, 5]);
  assertEquals([...statistics.keys.values()].map(({ key, pets }) => [key?.label, pets]), [
    [undefined, 5],
    ["key 11", 8],
  ]);
});
