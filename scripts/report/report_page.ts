/** The report of a log as one HTML page, which needs no script and no other file. */

import { escape } from "@std/html/entities";
import { PET_STATUSES } from "../../events/pet.ts";
import type { AuditReport } from "../audit/findings.ts";
import type { KeyUse, LogStatistics } from "./log_statistics.ts";
import { VERSION } from "../../src/settings/version.ts";
import { minute, type ShownKeyState, shownStateOf, stateWithTime } from "../cli/key_state.ts";
import { count } from "../cli/progress_reporter.ts";
import { BAR_HEIGHT, type Charts, type Draw, type Series } from "./report_charts.ts";

export interface ReportParts {
  statistics: LogStatistics;
  /** Names the store or the export, in the middle of a sentence. */
  source: string;
  /** Absent if no audit was asked for. */
  audit?: AuditReport;
  charts: Charts;
  /** Time of the report, in milliseconds since the Unix epoch. */
  now: number;
}

/** Keys in the table. The chart has fewer. */
const KEYS_SHOWN = 500;
const KEYS_IN_CHART = 10;

/** Width of the charts for wide windows and for narrow ones, in pixels. */
const WIDE = 920;
const HALF = 440;
const NARROW = 340;

/** Most columns that fit into a chart. */
const COLUMNS = { [WIDE]: 366, [NARROW]: 92 };

const DAY_MS = 86_400_000;

/** Returns the page, as text. All texts from outside are escaped. */
export function reportPage(parts: ReportParts): string {
  const { statistics, source, now } = parts;
  const title = "Animal Store report";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p>Made ${minute(now)} from ${escape(source)}, by version ${VERSION}. All times are in UTC.</p>
</header>
<main>
${warnings(statistics)}${verdict(parts)}
${figures(parts)}
${statistics.lines === 0 ? "" : charts(parts)}
${keyTable(parts)}
${ending(statistics)}
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

function verdict({ audit }: ReportParts): string {
  if (audit === undefined) {
    return `<p class="note">Not audited: with <code>--audit</code>, this page has the verdict.</p>`;
  }
  const { sound, position, faults, counts, advice, notes } = audit;
  const items = (texts: string[]) => texts.map((text) => `<li>${escape(text)}</li>`).join("");
  const noted = notes.length === 0 ? "" : `<ul>${items(notes)}</ul>`;
  if (sound) {
    return `<section class="note good"><strong>✓ Audit: sound</strong> up to position ${
      count(position)
    }${audit.from === undefined ? "" : `, from position ${count(audit.from)}`}.${noted}</section>`;
  }
  const total = Object.values(counts).reduce((sum, number) => sum + number, 0);
  return `<section class="note bad"><strong>✗ Audit: not sound</strong>, ${count(total)} ${
    total === 1 ? "fault" : "faults"
  } up to position ${count(position)}.
<ul>${items(faults.map(({ message }) => message))}</ul>
<p>What to do:</p>
<pre style="white-space: pre-wrap">${escape(Object.values(advice)[0])}</pre>${noted}</section>`;
}

function figures({ statistics, now }: ReportParts): string {
  const { lines, byType, firstTime, lastTime } = statistics;
  const states = keyStates(statistics, now);
  const live = (states.live ?? 0) + (states.retiring ?? 0);
  const rows: [name: string, value: string][] = [
    ["Events", count(lines)],
    ["Pets", count(byType.get("PetCreated") ?? 0)],
    ["Valid keys", `${count(live)} of ${count(statistics.keys.size)}`],
    ["First event", firstTime === undefined ? "–" : minute(Date.parse(firstTime))],
    ["Last event", lastTime === undefined ? "–" : minute(Date.parse(lastTime))],
  ];
  const items = rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`);
  return `<dl class="figures">${items.join("")}</dl>`;
}

function charts({ statistics, charts, now }: ReportParts): string {
  const wide = daySeries(statistics, COLUMNS[WIDE]);
  const narrow = daySeries(statistics, COLUMNS[NARROW]);
  const states = keyStates(statistics, now);
  const { byCommitSize } = statistics;
  const shownStates = KEY_STATES.filter((state) => state !== "not known" || states[state]);
  return [
    figure(
      "Events a day",
      wide.days > 1 ? `Averages of ${wide.days} days each; on a narrow screen, of more` : "",
      [
        [charts.columns, wide.perDay, WIDE, 220],
        [charts.columns, narrow.perDay, NARROW, 200],
      ],
    ),
    figure("Events in all", "", [
      [charts.area, wide.inAll, WIDE, 220],
      [charts.area, narrow.inAll, NARROW, 200],
    ]),
    `<div class="pair">`,
    bars("Pets by status", "", charts.bars, {
      labels: [...PET_STATUSES, "no status"],
      values: [...PET_STATUSES, undefined].map((it) => statistics.byStatus.get(it) ?? 0),
    }),
    bars("Keys by state", "", charts.bars, {
      labels: shownStates,
      values: shownStates.map((state) => states[state] ?? 0),
    }),
    bars(
      "Pets by key",
      statistics.keys.size > KEYS_IN_CHART ? `The ${KEYS_IN_CHART} keys with the most pets` : "",
      charts.bars,
      keySeries(statistics),
    ),
    byCommitSize.size === 0 ? "" : bars(
      "Commits by number of events",
      "A commit stores the events that waited together. A restore groups them in its own way",
      charts.bars,
      commitSizeSeries(byCommitSize),
    ),
    `</div>`,
  ].join("\n");
}

type Drawing = [draw: Draw, series: Series, width: number, height: number];

/** A chart for wide windows and one for narrow ones. The page shows one of them. */
function figure(title: string, note: string, [wide, narrow]: [Drawing, Drawing]): string {
  const svg = ([draw, series, width, height]: Drawing, name: string) => {
    const label = escape(`${title}: ${summary(series)}`);
    const text = draw(series, { width, height });
    return text.replace("<svg", () => `<svg class="${name}" role="img" aria-label="${label}"`);
  };
  return `<figure><figcaption><h2>${title}</h2>${note === "" ? "" : `<p>${note}</p>`}</figcaption>
${svg(wide, "wide")}
${svg(narrow, "narrow")}</figure>`;
}

function bars(title: string, note: string, draw: Draw, series: Series): string {
  const height = series.values.length * BAR_HEIGHT + 8;
  return figure(title, note, [[draw, series, HALF, height], [draw, series, NARROW, height]]);
}

/** Describes a chart for people who cannot see it. */
function summary({ labels, values }: Series): string {
  const value = (index: number) => `${labels[index]} ${count(Math.round(values[index]))}`;
  if (labels.length <= KEYS_IN_CHART) return labels.map((_, index) => value(index)).join(", ");
  const highest = values.reduce((best, it, index) => it > values[best] ? index : best, 0);
  return `from ${value(0)} to ${value(labels.length - 1)}, at most ${value(highest)}`;
}

/** The events of each day, or of groups of days if there are more days than columns. */
function daySeries({ byDay }: LogStatistics, columns: number) {
  const dayOf = (text: string) => Date.parse(text) / DAY_MS;
  const days = [...byDay].map(([text, events]): [number, number] => [dayOf(text), events]);
  const numbers = days.map(([day]) => day);
  const first = Math.min(...numbers);
  const last = Math.max(...numbers);
  const group = Math.ceil((last - first + 1) / columns);
  const sums = new Array<number>(Math.floor((last - first) / group) + 1).fill(0);
  for (const [day, events] of days) sums[Math.floor((day - first) / group)] += events;
  const labels = sums.map((_, index) =>
    new Date((first + index * group) * DAY_MS).toISOString().slice(0, 10)
  );
  let total = 0;
  const perDay = sums.map((sum, index) => {
    const length = Math.min(group, last - first + 1 - index * group);
    return Math.round(sum / length * 10) / 10;
  });
  return {
    days: group,
    perDay: { labels, values: perDay },
    inAll: { labels, values: sums.map((sum) => total += sum) },
  };
}

const KEY_STATES = ["live", "retiring", "expired", "revoked", "not known"] as const;

function keyStates(
  { keys }: LogStatistics,
  now: number,
): Partial<Record<ShownKeyState | "not known", number>> {
  const counts: Partial<Record<ShownKeyState | "not known", number>> = {};
  for (const { key } of keys.values()) {
    const state = key === undefined ? "not known" : shownStateOf(key, now);
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

/** The keys, those with the most pets first. */
function ranked({ keys }: LogStatistics): KeyUse[] {
  return [...keys.values()].sort((one, other) =>
    other.pets - one.pets || (one.id < other.id ? -1 : 1)
  );
}

function keySeries(statistics: LogStatistics): Series {
  const keys = ranked(statistics).slice(0, KEYS_IN_CHART);
  return { labels: keys.map(labelOf), values: keys.map(({ pets }) => pets) };
}

function labelOf({ id, key }: KeyUse): string {
  return key?.label ?? id;
}

/** Groups sizes of commits: 1, 2, 3 to 5, 6 to 10, and so on. */
const SIZE_LIMITS = [1, 2, 5, 10, 20, 50, 100, 200, 500, Infinity];

function commitSizeSeries(byCommitSize: Map<number, number>): Series {
  const values = SIZE_LIMITS.map(() => 0);
  for (const [size, commits] of byCommitSize) {
    values[SIZE_LIMITS.findIndex((limit) => size <= limit)] += commits;
  }
  const labels = SIZE_LIMITS.map((limit, index) => {
    const from = (SIZE_LIMITS[index - 1] ?? 0) + 1;
    if (limit === Infinity) return `${from} or more`;
    return from === limit ? String(limit) : `${from} to ${limit}`;
  });
  const last = values.findLastIndex((value) => value > 0);
  return { labels: labels.slice(0, last + 1), values: values.slice(0, last + 1) };
}

function keyTable({ statistics, now }: ReportParts): string {
  const keys = ranked(statistics);
  if (keys.length === 0) return "";
  const rows = keys.slice(0, KEYS_SHOWN).map((use) => {
    const { id, key, pets, firstUse, lastUse } = use;
    const name = key === undefined ? "<em>not known</em>" : `<bdi>${escape(key.label)}</bdi>`;
    const cells: [name: string, html: string][] = [
      ["Key", `<span>${name}<br><code>${escape(id)}</code></span>`],
      ["State", key === undefined ? "not known" : stateWithTime(key, now)],
      ["Access", key === undefined ? "–" : key.isReadOnly ? "read" : "write"],
      ["Issued", key === undefined ? "–" : minute(key.issuedAt)],
      ["Pets", count(pets)],
      ["First pet", firstUse === undefined ? "–" : minute(Date.parse(firstUse))],
      ["Last pet", lastUse === undefined ? "–" : minute(Date.parse(lastUse))],
    ];
    return cells;
  });
  const heads = rows[0].map(([name]) => `<th scope="col">${name}</th>`).join("");
  const body = rows.map((cells) =>
    `<tr>${cells.map(([name, html]) => `<td data-name="${name}">${html}</td>`).join("")}</tr>`
  );
  const more = keys.length > KEYS_SHOWN
    ? `<p>${count(keys.length - KEYS_SHOWN)} more keys are not shown.</p>`
    : "";
  return `<section><h2>API keys</h2>
<p>The log records what a key adds, and not what it reads.</p>
<table><thead><tr>${heads}</tr></thead>
<tbody>
${body.join("\n")}
</tbody></table>${more}</section>`;
}

function ending({ position, hash }: LogStatistics): string {
  return `<section><h2>End of the log</h2>
<dl class="ending"><dt>Position</dt><dd>${count(position)}</dd>
<dt>SHA-256 of the last line</dt><dd><code>${hash}</code></dd></dl></section>`;
}

const STYLE = `
:root { color-scheme: light dark; --page: #f4f6f8; --card: #fff; --text: #1b2027; --muted: #59636f;
  --line: #b8c0ca; --grid: #e4e8ed; --series: #2f6db5; --area: #2f6db533; --good: #1d7a3e; --bad: #b3261e; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #111418; --card: #1a1f25; --text: #e5e9ee; --muted: #9ba6b2; --line: #4b5561;
    --grid: #2b323a; --series: #6caaf0; --area: #6caaf033; --good: #6fce8f; --bad: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main { max-width: 1000px; margin: 0 auto; padding: 0 16px; }
h1 { margin: 24px 0 0; font-size: 26px; line-height: 1.2; }
h2 { margin: 0; font-size: 17px; }
header p, figcaption p, section p { margin: 2px 0 12px; color: var(--muted); font-size: 14px; }
code { font: 13px ui-monospace, monospace; }
figure, section, .figures > div { margin: 0 0 16px; padding: 16px; background: var(--card);
  border: 1px solid var(--grid); border-radius: 8px; break-inside: avoid; }
figcaption { margin-bottom: 8px; }
svg { display: block; width: 100%; height: auto; }
svg.narrow { display: none; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 16px; align-items: start; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 0 16px;
  margin: 0; }
dt { color: var(--muted); font-size: 13px; }
.figures dd { margin: 0; font-size: 19px; font-weight: 600; font-variant-numeric: tabular-nums; }
.ending { margin: 8px 0 0; }
.ending dd { margin: 0 0 8px; }
.note { margin: 0 0 16px; padding: 12px 16px; background: var(--card); border: 1px solid var(--grid);
  border-left: 4px solid var(--line); border-radius: 8px; }
.good { border-left-color: var(--good); }
.good strong { color: var(--good); }
.bad { border-left-color: var(--bad); }
.bad strong { color: var(--bad); }
.note ul, .note p { margin: 6px 0 0; color: inherit; }
table { width: 100%; border-collapse: collapse; font-size: 13px; }
th, td { padding: 6px 8px; border-bottom: 1px solid var(--grid); text-align: left;
  vertical-align: top; }
th { color: var(--muted); font-weight: 600; }
td { font-variant-numeric: tabular-nums; }
td[data-name="Pets"], th:nth-child(5) { text-align: right; }
th, td:not([data-name="Key"]) { overflow-wrap: normal; }
td code { color: var(--muted); font-size: 12px; }
@media (max-width: 720px) {
  svg.wide { display: none; }
  svg.narrow { display: block; max-width: 480px; margin: 0 auto; }
  .pair { grid-template-columns: 1fr; }
  .figures > :first-child { grid-column: 1 / -1; }
  thead { display: none; }
  tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--grid); }
  td { display: flex; gap: 12px; padding: 2px 0; border: 0; }
  td[data-name="Pets"] { text-align: left; }
  td::before { content: attr(data-name); flex: 0 0 80px; color: var(--muted); }
}
@media print {
  body { background: #fff; font-size: 12px; }
  header, main { max-width: none; padding: 0; }
  svg { print-color-adjust: exact; }
  tr { break-inside: avoid; }
}
`;
