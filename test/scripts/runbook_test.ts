/** The manuals explain what the service logs and measures, and what its alerts say. */

import { globSync } from "node:fs";
import { assertEquals, assertGreater } from "@std/assert";
import { METRICS } from "../../src/telemetry/metrics.ts";
import { LOG_EVENTS } from "../../src/runtime/log_events.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { ROOT } from "../support/with_project_copy.ts";

const test = testNeeding(permissions("read"));

const read = (path: string) => Deno.readTextFile(ROOT + path);

/** The rows of the table in a chapter of the runbook: the name, and the other cells. */
async function rowsOf(chapter: string): Promise<[name: string, ...cells: string[]][]> {
  const [, text] = RegExp(`^## ${chapter}\n([^]*?)^## `, "m").exec(
    await read("scripts/runbook.md"),
  )!;
  return Array.from(text.matchAll(/^\| `(\w+)` +\| (.+) \|$/gm), ([, name, cells]) => {
    return [name, ...cells.split(" | ").map((cell) => cell.trim())];
  });
}

test("The runbook says of each event of the log what it means and what to do", async () => {
  const rows = await rowsOf("Lines of the log");
  assertEquals(rows.map(([event]) => event), LOG_EVENTS.toSorted());
  for (const [event, meaning, action, ...others] of rows) {
    assertGreater(meaning.length, 10, event);
    assertGreater(action.length, 5, event);
    assertEquals(others, [], event);
  }
});

/** The files that list the events. */
const LISTS = ["src/runtime/log_events.ts", "src/eventstore_less/runtime/logger.ts"];

test("Each event of the list is one that a part of the program logs", async () => {
  const paths = globSync("{src,scripts}/**/*.ts", { cwd: ROOT })
    .filter((path) => !LISTS.includes(path));
  const sources = (await Promise.all(paths.map(read))).join("\n");
  assertEquals(LOG_EVENTS.filter((event) => !sources.includes(`"${event}"`)), []);
});

test("The runbook says of each alert what to do, and each alert leads there", async () => {
  const rules = await read("scripts/deploy/alerts.yml");
  const alerts = Array.from(rules.matchAll(/- alert: AnimalStore(\w+)$/gm), ([, name]) => name);
  assertEquals((await rowsOf("Alerts")).map(([name]) => name), alerts);
  const chapters = Array.from(rules.matchAll(/runbook: (\S+)$/gm), ([, chapter]) => chapter);
  assertEquals(chapters, alerts.map(() => "scripts/runbook.md#alerts"));
});

test("The manual says of each metric what it is for", async () => {
  const manual = await read("scripts/README.md");
  const [, table] = /^\| Metric .*\n\|[- |]+\n((?:\|.*\n)+)/m.exec(manual)!;
  const rows = Array.from(table.matchAll(/^\| `(\w+)` +\| (.+?) +\|$/gm), ([, ...cells]) => cells);
  const names = METRICS.map(({ name }) => name.replace(/^animal_store_/, ""));
  assertEquals(rows.map(([name]) => name), names);
  for (const [name, use] of rows) assertGreater(use.length, 10, name);
});
