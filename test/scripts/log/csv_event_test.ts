import { APPLICATION } from "../../../src/application.ts";
import { assertEquals } from "@std/assert";
import { CSV_HEADER, csvEvent } from "../../../scripts/log/csv_event.ts";
import { parseCsv } from "../../../src/window/csv/parse_csv.ts";
import { eventOf } from "../../../src/eventstore_less/log/lines.ts";
import { sampleLog } from "../../support/sample_log.ts";
import { utf8 } from "../../support/utf8.ts";

const LINES = sampleLog(30);
const KEY = JSON.parse(LINES[0]).id;
const LABELS = new Map([[KEY, "=SUM(A1)"]]);

/** The cells of an event that are not empty, by their columns. */
function cellsOf(position: number, text = LINES[position - 1]): Record<string, string> {
  const line = utf8(text);
  const row = csvEvent({ position, line }, eventOf(APPLICATION, line), LABELS);
  const [{ cells: columns }, { cells }] = parseCsv(CSV_HEADER + row);
  const named = columns.map((column: string, index: number) => [column, cells[index]]);
  return Object.fromEntries(
    named.filter(([, cell]: string[]) => cell !== undefined && cell !== ""),
  );
}

/** The cells that each event has. */
function commonOf(position: number) {
  const { time, type, subject, actor } = JSON.parse(LINES[position - 1]);
  return { position: String(position), time, type, subject, actor };
}

Deno.test("csvEvent() has the values of an animal and those before, and no hash of a token", () => {
  assertEquals(CSV_HEADER[0], "\ufeff");
  const label = { actorLabel: "'=SUM(A1)" };
  const { name, categoryId } = JSON.parse(LINES[1]).data;
  const added = { name, categoryId: String(categoryId), status: "pending" };
  assertEquals(cellsOf(2), { ...commonOf(2), ...label, ...added });
  const { data } = JSON.parse(LINES[4]);
  const before = data.previous;
  assertEquals(cellsOf(5), {
    ...commonOf(5),
    ...label,
    name: data.name,
    categoryId: String(data.categoryId),
    status: data.status,
    "previous.name": before.name,
    "previous.categoryId": String(before.categoryId),
    "previous.status": "none",
  });
  assertEquals(cellsOf(7), { ...commonOf(7), ...label, name: "Dogs" });
  const renamed = { name: "Cats 1", "previous.name": "Katzen 🐈" };
  assertEquals(cellsOf(19), { ...commonOf(19), ...renamed });
  assertEquals(cellsOf(1), { ...commonOf(1), label: "key 1" });
  assertEquals(cellsOf(12), { ...commonOf(12), effectiveAt: JSON.parse(LINES[11]).time });
  assertEquals(cellsOf(1, "{}"), { position: "1", type: "not an event" });
});

Deno.test("csvEvent() writes no text as a formula, also within a name", () => {
  const name = "Rex;=1+1\n-2";
  const line = LINES[1].replace(/"name":"[^"]*"/, () => `"name":${JSON.stringify(name)}`);
  assertEquals(cellsOf(2, line).name, "Rex;'=1+1\n'-2");
});

Deno.test("csvEvent() writes negative numbers as they are", () => {
  const line = LINES[1].replace(/"categoryId":-?\d+/, '"categoryId":-7');
  assertEquals(cellsOf(2, line).categoryId, "-7");
});
