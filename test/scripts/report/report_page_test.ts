import { assertEquals } from "@std/assert";
import { LogStatistics } from "../../../scripts/report/log_statistics.ts";
import type { Values } from "../../../scripts/report/report_charts.ts";
import { reportPage } from "../../../scripts/report/report_page.ts";
import { linesOf, sampleId } from "../../support/sample_log.ts";

const FIRST = "2026-11-20T15:40:00.000Z";
const HOUR_MS = 3_600_000;

/** Logs of two additions so many hours apart, and what the chart over time shows of them. */
const SPANS: [hours: number, title: string, bars: number, first: string, last: string][] = [
  [0, "per hour", 24, "11-20 00:00", "11-20 23:00"],
  [1, "per hour", 24, "11-20 00:00", "11-20 23:00"],
  [20, "per hour", 48, "11-20 00:00", "11-21 23:00"],
  [71, "per hour", 96, "11-20 00:00", "11-23 23:00"],
  [72, "per day", 4, "2026-11-20", "2026-11-23"],
  [24 * 92, "per day", 93, "2026-11-20", "2027-02-20"],
  [24 * 99, "per day", 100, "2026-11-20", "2027-02-27"],
  [24 * 100, "per 2 days", 51, "2026-11-20", "2027-02-28"],
  [24 * 365 * 9, "per 33 days", 100, "2026-11-20", "2035-10-31"],
];

Deno.test("reportPage() shows activity per hour for three days, then per day or group of days, in at most 100 bars", () => {
  for (const [hours, title, count, first, last] of SPANS) {
    const [page, bars] = pageOf(hours);
    const [, shown] = /<h2>Additions and changes (per [^<]+)<\/h2>/.exec(page)!;
    assertEquals([shown, bars.length], [title, count]);
    assertEquals([bars[0][0], bars.at(-1)![0]], [first, last], title);
    const added = bars.reduce((sum, [, added]) => sum + added, 0);
    assertEquals(added, 2);
  }
});

/** The page about a log of two additions, and the values of its chart over time. */
function pageOf(hours: number): [page: string, bars: Values] {
  const statistics = new LogStatistics();
  const lines = linesOf([0, hours].map((hour, index) => ({
    type: "PetCreated",
    data: { id: index + 1, name: "Rex", categoryId: 1n },
    id: sampleId(index + 1),
    time: new Date(Date.parse(FIRST) + hour * HOUR_MS).toISOString(),
    actor: sampleId(0),
  })));
  statistics.add(lines.map((line) => new TextEncoder().encode(line)));
  const charts: Values[] = [];
  const draw = (_kind: string, values: Values) => {
    charts.push(values);
    return "<svg></svg>";
  };
  return [reportPage({ statistics, source: "a test", draw, now: 0 }), charts[0]];
}
