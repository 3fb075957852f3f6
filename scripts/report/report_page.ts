/** The report of a log as one HTML page, which needs no script and no other file. */

import { escape } from "@std/html/entities";
import { PET_STATUSES } from "../../events/pet.ts";
import { type AuditReport, describe } from "../audit/findings.ts";
import type { KeyUse, LogStatistics } from "./log_statistics.ts";
import { VERSION } from "../../src/settings/version.ts";
import { minute, shownStateOf, stateWithTime } from "../cli/key_state.ts";
import { count } from "../cli/count.ts";
import type { ChartKind, DrawChart, Values } from "./report_charts.ts";

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

const DAY_MS = 86_400_000;

/** Returns the page, as text. All texts from outside are escaped. */
export function reportPage(parts: ReportParts): string {
  const { statistics, source, now } = parts;
  const title = "Animal Store report";
  const keys = [...statistics.keys.values()].sort((one, other) =>
    other.pets - one.pets || (one.id < other.id ? -1 : 1)
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
<header>
<h1>${title}</h1>
<p>Made ${minute(now)} from ${escape(source)}, by version ${VERSION}. All times are in UTC.</p>
</header>
<main>
${warnings(statistics)}${verdict(parts.audit)}
${figures(parts)}
${statistics.position === 0 ? "" : charts(parts, keys)}
${keys.length === 0 ? "" : keyTable(keys, now)}
</main>
</body>
</html>
`;
}

function warnings({ lines, unreadable, firstPosition, position }: LogStatistics): string {
  const texts: string[] = [];
  if (lines === 0) texts.push("The log has no events.");
  if (unreadable > 0) {
    texts.push(
      `${count(unreadable)} ${unreadable === 1 ? "line is" : "lines are"} not an event that this ` +
        "version knows, and not counted. Run deno task audit.",
    );
  }
  const expected = position - firstPosition + 1;
  if (firstPosition > 1 || lines !== (position === 0 ? unreadable : expected)) {
    texts.push(
      `This is a part of a log: ${count(lines)} events, from position ${count(firstPosition)} to ` +
        `${count(position)}.`,
    );
  }
  return texts.map((text) => `<p class="note bad">${text}</p>\n`).join("");
}

function verdict(audit: AuditReport | undefined): string {
  if (audit === undefined) {
    return `<p class="note">Not audited: with <code>--audit</code>, this page has the verdict.</p>`;
  }
  const [look, words] = audit.sound ? ["good", "✓ Audit: sound"] : ["bad", "✗ Audit: not sound"];
  return `<section class="note ${look}"><h2>${words}</h2><pre>${
    escape(describe(audit))
  }</pre></section>`;
}

function figures({ statistics, now }: ReportParts): string {
  const { lines, byType, firstTime, lastTime, position, hash, keys } = statistics;
  const [[, live], [, retiring]] = keyStates(statistics, now);
  const rows: [name: string, value: string][] = [
    ["Events", count(lines)],
    ["Pets", count(byType.get("PetCreated") ?? 0)],
    ["Valid keys", `${count(live + retiring)} of ${count(keys.size)}`],
    ["First event", timeOf(firstTime)],
    ["Last event", timeOf(lastTime)],
  ];
  const items = rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return `<dl>${items.join("")}</dl>
<p>The log ends at position ${
    count(position)
  }. The SHA-256 of its last line is <code>${hash}</code>.</p>`;
}

function charts({ statistics, draw, now }: ReportParts, keys: KeyUse[]): string {
  const { byDay, byStatus, byCommitSize } = statistics;
  const { days, perGroup, inAll } = overTime(byDay);
  const figure = (title: string, kind: ChartKind, values: Values, note = "") => {
    const label = escape(`${title}: ${summary(values)}`);
    const svg = draw(kind, values).replace("<svg", () => `<svg role="img" aria-label="${label}"`);
    return `<figure><h2>${title}</h2>${note && `<p>${note}</p>`}${svg}</figure>`;
  };
  const pets = [...PET_STATUSES, undefined]
    .map((it): Values[0] => [it ?? "no status", byStatus.get(it) ?? 0]);
  const byKey = keys.slice(0, KEYS_IN_CHART)
    .map(({ id, key, pets }): Values[0] => [key?.label ?? id, pets]);
  const most = keys.length > KEYS_IN_CHART ? `The ${KEYS_IN_CHART} keys with the most pets` : "";
  const waited =
    "A commit stores the events that waited together. A restore groups them in its own way";
  return `<div class="charts">
${figure(`Events per ${days === 1 ? "day" : `${days} days`}`, "vertical bars", perGroup)}
${figure("Events in all", "area", inAll)}
${figure("Pets by status", "horizontal bars", pets)}
${figure("Keys by state", "horizontal bars", keyStates(statistics, now))}
${figure("Pets by key", "horizontal bars", byKey, most)}
${
    byCommitSize.size === 0 ? "" : figure(
      "Commits by number of events",
      "horizontal bars",
      commitSizes(byCommitSize),
      waited,
    )
  }
</div>`;
}

/** Describes a chart for people who cannot see it. */
function summary(values: Values): string {
  const words = ([label, value]: Values[0]) => `${label} ${count(value)}`;
  if (values.length <= KEYS_IN_CHART) return values.map(words).join(", ");
  const highest = values.reduce((best, it) => it[1] > best[1] ? it : best);
  return `from ${words(values[0])} to ${words(values.at(-1)!)}, at most ${words(highest)}`;
}

/** The events of each day, or of groups of days if there are more days than bars. */
function overTime(byDay: Map<string, number>) {
  const events = [...byDay].map(([text, sum]) => [Date.parse(text) / DAY_MS, sum] as const);
  const first = Math.min(...events.map(([day]) => day));
  const length = Math.max(...events.map(([day]) => day)) - first + 1;
  const days = Math.ceil(length / BARS_OVER_TIME);
  const perGroup = Array.from({ length: Math.ceil(length / days) }, (_, index): Values[0] => {
    return [new Date((first + index * days) * DAY_MS).toISOString().slice(0, 10), 0];
  });
  for (const [day, sum] of events) perGroup[Math.floor((day - first) / days)][1] += sum;
  let total = 0;
  return { days, perGroup, inAll: perGroup.map(([day, sum]): Values[0] => [day, total += sum]) };
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

/** The number of commits in each group of sizes: 1, 2 to 3, 4 to 7, and so on. */
function commitSizes(byCommitSize: Map<number, number>): Values {
  const largest = Math.floor(Math.log2(Math.max(...byCommitSize.keys())));
  const groups = Array.from({ length: largest + 1 }, (_, power): Values[0] => {
    return [power === 0 ? "1" : `${2 ** power} to ${2 ** (power + 1) - 1}`, 0];
  });
  for (const [size, commits] of byCommitSize) groups[Math.floor(Math.log2(size))][1] += commits;
  return groups;
}

function keyTable(keys: KeyUse[], now: number): string {
  const rows = keys.slice(0, KEYS_SHOWN).map(({ id, key, pets, firstUse, lastUse }) => {
    const cells = [
      `${key === undefined ? "not known" : `<bdi>${escape(key.label)}</bdi>`}<br>
<code>${escape(id)}</code>`,
      key === undefined ? "not known" : stateWithTime(key, now),
      key === undefined ? "–" : key.isReadOnly ? "read" : "write",
      key === undefined ? "–" : minute(key.issuedAt),
      count(pets),
      timeOf(firstUse),
      timeOf(lastUse),
    ];
    return `<tr>${cells.map((html) => `<td>${html}</td>`).join("")}</tr>`;
  });
  const heads = ["Key", "State", "Access", "Issued", "Pets", "First pet", "Last pet"]
    .map((name) => `<th scope="col">${name}</th>`);
  const more = keys.length - rows.length;
  return `<section><h2>API keys</h2>
<p>The log records what a key adds, and not what it reads.</p>
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
  --muted: light-dark(#59636f, #9ba6b2); --line: light-dark(#b8c0ca, #4b5561);
  --grid: light-dark(#e4e8ed, #2b323a); --series: light-dark(#2f6db5, #6caaf0);
  --area: light-dark(#2f6db533, #6caaf033); --good: light-dark(#1d7a3e, #6fce8f);
  --bad: light-dark(#b3261e, #ff8a80); }
@media print { :root { color-scheme: light; } }
body { max-width: 1000px; margin: 0 auto; padding: 0 16px; background: var(--page);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 24px 0 0; font-size: 26px; }
h2 { margin: 0; font-size: 17px; }
p, dt, th, td code { color: var(--muted); font-size: 14px; }
pre { margin: 0; font: inherit; white-space: pre-wrap; }
figure, section, dl, .note { margin: 0 0 16px; padding: 12px 16px; background: var(--card);
  border: 1px solid var(--grid); border-radius: 8px; break-inside: avoid; }
.charts, dl { display: grid; gap: 0 16px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); }
dl { grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
dd { margin: 0; font-size: 19px; font-weight: 600; }
svg { display: block; width: 100%; height: auto; print-color-adjust: exact; }
.note { border-left: 4px solid var(--line); }
.good { border-left-color: var(--good); h2 { color: var(--good); } }
.bad { border-left-color: var(--bad); h2 { color: var(--bad); } }
section { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 13px; }
th, td { padding: 6px 8px; border-bottom: 1px solid var(--grid); text-align: left;
  vertical-align: top; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:first-child { min-width: 18em; white-space: normal; }
`;
