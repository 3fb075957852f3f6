/** The report of a log as one HTML page, which needs no script and no other file. */

import { escape } from "@std/html/entities";
import { PET_STATUSES } from "../../events/pet.ts";
import { VERSION } from "../../src/settings/version.ts";
import { type AuditReport, describe } from "../audit/findings.ts";
import { count, minute } from "../cli/format.ts";
import { shownStateOf, stateWithTime } from "../cli/key_state.ts";
import type { KeyUse, LogStatistics } from "./log_statistics.ts";
import type { DrawChart, Values } from "./report_charts.ts";

export interface ReportParts {
  statistics: LogStatistics;
  /** Names the store or the export, in the middle of a sentence. */
  source: string;
  /** Absent if no audit was asked for. */
  audit?: AuditReport;
  draw: DrawChart;
  /** Time of the report, in milliseconds since the Unix epoch. */
  now: number;
}

/** Keys in the table. The chart has fewer. */
const KEYS_SHOWN = 500;
const KEYS_IN_CHART = 10;

/** Most bars over time that fit into a chart. */
const BARS_OVER_TIME = 100;

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;

/** The activity of a log that spans less is shown by hour. */
const YOUNG_HOURS = 3 * DAY_HOURS;

/** Returns the page, as text. All texts from outside are escaped. */
export function reportPage(parts: ReportParts): string {
  const { statistics, source, now } = parts;
  const title = "Animal Store report";
  const keys = [...statistics.keys.values()].sort((one, other) =>
    usesOf(other) - usesOf(one) || (one.id < other.id ? -1 : 1)
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p>Made ${minute(now)} from ${escape(source)}, by version ${VERSION}. All times are in UTC.</p>
${warnings(statistics)}${verdict(parts.audit)}
${figures(parts)}
${statistics.first === undefined ? "" : charts(parts, keys)}
${keys.length === 0 ? "" : keyTable(keys, now)}
</body>
</html>
`;
}

function warnings({ lines, unreadable, first, last }: LogStatistics): string {
  const texts: string[] = [];
  if (lines === 0) texts.push("The log has no events.");
  if (unreadable > 0) {
    texts.push(
      `${count(unreadable)} ${unreadable === 1 ? "line is" : "lines are"} not an event that this ` +
        "version knows, and not counted. Run deno task audit.",
    );
  }
  const [from, to] = [first?.position ?? 1, last?.position ?? 0];
  if (last !== undefined && (from > 1 || lines !== to)) {
    texts.push(
      `This is a part of a log: ${count(lines)} events, from position ${count(from)} to ${
        count(to)
      }.`,
    );
  }
  return texts.map((text) => `<p class="bad">${text}</p>\n`).join("");
}

function verdict(audit: AuditReport | undefined): string {
  if (audit === undefined) {
    return `<p>Not audited: with <code>--audit</code>, this page has the verdict.</p>`;
  }
  const [look, words] = audit.sound ? ["good", "✓ Audit: sound"] : ["bad", "✗ Audit: not sound"];
  return `<section class="${look}"><h2>${words}</h2><pre>${
    escape(describe(audit))
  }</pre></section>`;
}

function figures({ statistics, now }: ReportParts): string {
  const { lines, byStatus, first, last, hash, keys } = statistics;
  const pets = [...byStatus.values()].reduce((sum, number) => sum + number, 0);
  const [[, live], [, retiring]] = keyStates(statistics, now);
  const rows: [name: string, value: string][] = [
    ["Events", count(lines)],
    ["Pets", count(pets)],
    ["Valid keys", `${count(live + retiring)} of ${count(keys.size)}`],
    ["First event", timeOf(first?.time)],
    ["Last event", timeOf(last?.time)],
  ];
  const items = rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return `<dl>${items.join("")}</dl>
<p>The log ends at position ${count(last?.position ?? 0)}. The SHA-256 of its last line is
<code>${hash}</code>.</p>`;
}

function charts({ statistics, draw, now }: ReportParts, keys: KeyUse[]): string {
  const figure = (
    title: string,
    kind: "vertical" | "horizontal",
    values: Values,
    names = [""],
  ) => {
    const words = names.map((name, index) => {
      const series = values.map(([label, ...stack]): Values[0] => [label, stack[index]]);
      return `${name} ${summary(series)}`.trim();
    });
    const label = escape(`${title}: ${words.join("; ")}`);
    const svg = draw(kind, values, names)
      .replace("<svg", () => `<svg role="img" aria-label="${label}"`);
    return `<section><h2>${title}</h2>${svg}</section>`;
  };
  const { step, bars } = overTime(statistics.byHour);
  const statuses = [...PET_STATUSES, undefined]
    .map((it): Values[0] => [it ?? "no status", statistics.byStatus.get(it) ?? 0]);
  const byKey = keys.slice(0, KEYS_IN_CHART)
    .map((use): Values[0] => [use.key?.label ?? use.id, usesOf(use)]);
  const most = keys.length > KEYS_IN_CHART ? `, the ${KEYS_IN_CHART} keys with the most` : "";
  return `<div class="charts">
${figure(`Additions and changes per ${step}`, "vertical", bars, ["additions", "changes"])}
${figure("Pets by status now", "horizontal", statuses)}
${figure("Keys by state", "horizontal", keyStates(statistics, now))}
${figure(`Additions and changes by key${most}`, "horizontal", byKey)}
</div>`;
}

function usesOf({ added, changed }: KeyUse): number {
  return added + changed;
}

/** The number of keys in each state. */
function keyStates({ keys }: LogStatistics, now: number): Values {
  const counts = new Map(["live", "retiring", "expired", "revoked"].map((state) => [state, 0]));
  for (const { key } of keys.values()) {
    const state = key === undefined ? "not known" : shownStateOf(key, now);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return [...counts];
}

/** Describes a chart for people who cannot see it. */
function summary(values: Values): string {
  const words = ([label, value]: Values[0]) => `${label} ${count(value)}`;
  if (values.length <= KEYS_IN_CHART) return values.map(words).join(", ");
  const highest = values.reduce((best, it) => it[1] > best[1] ? it : best);
  return `from ${words(values[0])} to ${words(values.at(-1)!)}, at most ${words(highest)}`;
}

/** The additions and changes of each hour of a young log, and otherwise of each day or group of days. */
function overTime(byHour: LogStatistics["byHour"]): { step: string; bars: Values } {
  const activities = [...byHour].map(([text, activity]) => {
    return { hour: Date.parse(`${text}:00Z`) / HOUR_MS, ...activity };
  });
  const [first, last] = activities.reduce(
    ([first, last], { hour }) => [Math.min(first, hour), Math.max(last, hour)],
    [Infinity, -Infinity],
  );
  // Whole days, so that the first hours of a log are not the whole width.
  const start = Math.floor(first / DAY_HOURS) * DAY_HOURS;
  const allDays = Math.floor(last / DAY_HOURS) + 1 - start / DAY_HOURS;
  const isYoung = last - first < YOUNG_HOURS;
  const days = Math.ceil(allDays / BARS_OVER_TIME);
  const stepHours = isYoung ? 1 : days * DAY_HOURS;
  const length = Math.ceil(allDays * DAY_HOURS / stepHours);
  const bars = Array.from({ length }, (_, index): Values[0] => {
    const time = new Date((start + index * stepHours) * HOUR_MS).toISOString();
    return [isYoung ? time.slice(5, 16).replace("T", " ") : time.slice(0, 10), 0, 0];
  });
  for (const { hour, added, changed } of activities) {
    const bar = bars[Math.floor((hour - start) / stepHours)];
    bar[1] += added;
    bar[2] += changed;
  }
  return { step: isYoung ? "hour" : days === 1 ? "day" : `${days} days`, bars };
}

function keyTable(keys: KeyUse[], now: number): string {
  const rows = keys.slice(0, KEYS_SHOWN).map(({ id, key, added, changed, firstUse, lastUse }) => {
    const cells = [
      `<bdi>${escape(key?.label ?? "not known")}</bdi><br>\n<code>${escape(id)}</code>`,
      key === undefined ? "not known" : stateWithTime(key, now),
      key === undefined ? "–" : key.isReadOnly ? "read" : "write",
      key === undefined ? "–" : minute(key.issuedAt),
      count(added),
      count(changed),
      timeOf(firstUse),
      timeOf(lastUse),
    ];
    return `<tr>${cells.map((html) => `<td>${html}</td>`).join("")}</tr>`;
  });
  const names = ["Key", "State", "Access", "Issued", "Added", "Changed", "First use", "Last use"];
  const heads = names.map((name) => `<th scope="col">${name}</th>`);
  const more = keys.length - rows.length;
  return `<section><h2>API keys</h2>
<p>The log records what a key adds and changes, and not what it reads.</p>
<table><thead><tr>${heads.join("")}</tr></thead>
<tbody>
${rows.join("\n")}
</tbody></table>${more > 0 ? `<p>${count(more)} more keys are not shown.</p>` : ""}</section>`;
}

function timeOf(time: string | undefined): string {
  return time === undefined ? "–" : minute(Date.parse(time));
}

const STYLE = `
:root { color-scheme: light dark; --page: light-dark(#f4f6f8, #111418);
  --card: light-dark(#fff, #1a1f25); --text: light-dark(#1b2027, #e5e9ee);
  --line: light-dark(#dde2e8, #333b45);
  --series-1: light-dark(#2f6db5, #6caaf0); --series-2: light-dark(#e0a030, #d98e1f);
  --good: light-dark(#1d7a3e, #6fce8f); --bad: light-dark(#b3261e, #ff8a80); }
@media print { :root { color-scheme: light; } }
body { max-width: 1000px; margin: 24px auto; padding: 0 16px; background: var(--page);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h2, pre, dd { margin: 0; }
h2, dd { font-size: 17px; }
pre { font: inherit; white-space: pre-wrap; }
section, dl { margin: 0 0 16px; padding: 12px 16px; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; break-inside: avoid; }
.charts, dl { display: grid; gap: 0 16px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); }
dl { grid-template-columns: repeat(auto-fit, minmax(175px, 1fr)); }
dd { font-weight: bold; white-space: nowrap; }
svg { display: block; width: 100%; height: auto; print-color-adjust: exact; }
.good h2 { color: var(--good); }
.bad h2, p.bad { color: var(--bad); }
table { width: 100%; border-collapse: collapse; font-size: 13px; }
th, td { padding: 6px 8px; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; white-space: nowrap; }
td:first-child { min-width: 16em; white-space: normal; }
td code { white-space: nowrap; }
`;
